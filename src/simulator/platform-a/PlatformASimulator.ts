import { HttpRouter, HttpServerRequest, HttpServerResponse, Socket } from "@effect/platform"
import { Effect, Mailbox } from "effect"
import { loadLibrary } from "../../platform/platform-a/SilentLibrary.ts"
import { listen } from "../SimulatorServer.ts"
import { makeControlRoutes } from "./ControlRoutes.ts"
import { makeSession } from "./Session.ts"
import { makeWorld } from "./World.ts"
import { makeWriting } from "./Writing.ts"

/**
 * Stands in for platform_a: a WebSocket that speaks the platform's own protocol, for any number of accounts and people,
 * with end-to-end encryption between people and the clients of an account. Control API under `/_control`.
 */
export const start = Effect.fn("PlatformASimulator.start")(function* (options: { readonly port: number }) {
  const library = yield* loadLibrary
  const world = makeWorld(library)
  const writing = makeWriting(library, world)

  const chat = Effect.gen(function* () {
    const socket = yield* HttpServerRequest.upgrade
    const write = yield* socket.writer
    const outgoing = yield* Mailbox.make<Uint8Array | Socket.CloseEvent>()
    const incoming = yield* Mailbox.make<Uint8Array>()
    const session = makeSession(library, world, {
      write: (bytes) => outgoing.unsafeOffer(bytes),
      hangUp: () => outgoing.unsafeOffer(new Socket.CloseEvent(1000))
    })
    world.sessions.add(session)
    yield* Effect.addFinalizer(() => Effect.sync(() => world.sessions.delete(session)))
    yield* Effect.forkScoped(Effect.forever(Effect.flatMap(outgoing.take, write)))
    yield* Effect.forkScoped(
      Effect.forever(Effect.flatMap(incoming.take, (bytes) => Effect.promise(() => session.receive(bytes))))
    )
    yield* Effect.exit(socket.run((bytes) => void incoming.unsafeOffer(Uint8Array.from(bytes))))
    return HttpServerResponse.empty()
  }).pipe(Effect.scoped)

  const app = HttpRouter.empty.pipe(
    HttpRouter.get("/ws/chat", chat),
    HttpRouter.mount("/_control", makeControlRoutes(library, world, writing))
  )
  const { url } = yield* listen(app, options.port)
  return { url, socketUrl: `${url.replace(/^http/, "ws")}/ws/chat` }
})
