import { NodeHttpClient, NodeContext } from "@effect/platform-node"
import { Data, Effect, Layer, Option, Redacted, type Scope } from "effect"
import type { PlatformEvent } from "../../../src/platform/domain/PlatformEvent.ts"
import { PlatformA, type PushConnection, type PushLogin } from "../../../src/platform/Platform.ts"
import * as PlatformADriver from "../../../src/platform/platform-a/PlatformADriver.ts"
import * as PlatformASimulator from "../../../src/simulator/platform-a/PlatformASimulator.ts"
import { call } from "../../support/Api.ts"
import { makeVault } from "./VaultInMemory.ts"

export const services = Layer.merge(NodeContext.layer, NodeHttpClient.layerUndici)

/** A simulated platform with one driver, whose sessions outlive it. */
export const makeSide = Effect.gen(function* () {
  const simulator = yield* PlatformASimulator.start({ port: 0 })
  const vault = makeVault()
  const driver = PlatformADriver.layer({ url: simulator.socketUrl }).pipe(Layer.provide(vault.layer))
  const control = (method: string, path: string, body?: unknown) =>
    call(method, `${simulator.url}/_control${path}`, body === undefined ? {} : { body })
  return { simulator, vault, driver, control }
}).pipe(Effect.provide(services), Effect.orDie)

export type Side = Effect.Effect.Success<typeof makeSide>

class NeverSeen extends Data.TaggedError("NeverSeen")<{ readonly tag: string }> {}

/** The next event with this tag; it and the others before it count as stored. */
export const nextEvent = <Tag extends PlatformEvent["_tag"]>(connection: PushConnection, tag: Tag) => {
  const isIt = (event: PlatformEvent): event is Extract<PlatformEvent, { readonly _tag: Tag }> => event._tag === tag
  const look: Effect.Effect<Extract<PlatformEvent, { readonly _tag: Tag }>> = Effect.flatMap(
    Effect.zipLeft(Effect.orDie(connection.events.take), connection.stored(1)),
    (event) => (isIt(event) ? Effect.succeed(event) : look)
  )
  return Effect.timeoutFail(look, { duration: "20 seconds", onTimeout: () => new NeverSeen({ tag }) }).pipe(
    Effect.orDie
  )
}

export const connect = (
  channelId: string,
  phoneNumber = Option.none<string>(),
  sentText: PushLogin["sentText"] = () => Effect.succeedNone
) => Effect.flatMap(PlatformA, (platform) => platform.connect({ channelId, phoneNumber, sentText }))

/** A channel that is linked to a phone by its QR code and connected. */
export const linked = Effect.fn(function* (
  side: Side,
  channelId: string,
  phone: string
): Effect.fn.Return<PushConnection, unknown, PlatformA | Scope.Scope> {
  const pairing = yield* Effect.scoped(
    Effect.gen(function* () {
      const connection = yield* connect(channelId)
      const { qr } = yield* nextEvent(connection, "QrShown")
      yield* side.control("POST", "/scan", { qr: Redacted.value(qr), phone })
      return yield* nextEvent(connection, "Closed")
    })
  )
  if (pairing.end !== "restart") return yield* Effect.dieMessage(`linking ended in ${pairing.end}`)
  const connection = yield* connect(channelId)
  yield* nextEvent(connection, "Connected")
  return connection
})
