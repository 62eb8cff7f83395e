import { Clock, DateTime, Effect, Layer, Mailbox, Option, Redacted } from "effect"
import { Closed, Connected, type PlatformEvent, QrShown } from "../../src/platform/domain/PlatformEvent.ts"
import { PlatformA, PlatformFailure } from "../../src/platform/Platform.ts"
import { endOf } from "../../src/platform/platform-a/ClosePolicy.ts"

/** A platform that pushes, as its next connections find it: each says what is next in the script, the last stays open. */
export class PhoneWorld {
  readonly script: Array<ReadonlyArray<PlatformEvent> | PlatformFailure["reason"]> = []
  readonly connectedAt: Array<number> = []
  readonly forgotten: Array<string> = []
  readonly deeds: Array<"unlink" | "forget"> = []
  isAway = false
  readonly typing: Array<readonly [millis: number, chat: string, isTyping: boolean]> = []
  stored = 0
}

export const connected = Connected.make({ address: "491700000001@s.whatsapp.net", username: "491700000001" })

export const closed = (code: number, isLinked = true) =>
  Closed.make({ end: endOf(Option.some(code), isLinked), code: Option.some(code) })

export const qr = (text: string) =>
  QrShown.make({ qr: Redacted.make(text), expiresAt: DateTime.unsafeMake("2026-03-01T13:00:00Z") })

const failing = (reason: PlatformFailure["reason"]) =>
  new PlatformFailure({ reason, detail: reason, retryAfter: Option.none() })

export const layer = (world: PhoneWorld) =>
  Layer.succeed(
    PlatformA,
    PlatformA.of({
      connect: () =>
        Effect.gen(function* () {
          world.connectedAt.push(yield* Clock.currentTimeMillis)
          const next = world.script.shift() ?? [connected]
          if (typeof next === "string") {
            return yield* failing(next)
          }
          const events = yield* Mailbox.make<PlatformEvent>()
          yield* events.offerAll(next)
          if (next.at(-1)?._tag === "Closed") yield* events.end
          return {
            events,
            stored: (count) => Effect.sync(() => void (world.stored += count)),
            send: () => failing("unavailable"),
            typing: Option.some((chat: string, isTyping: boolean) =>
              Effect.map(Clock.currentTimeMillis, (at) => void world.typing.push([at, chat, isTyping]))
            )
          }
        }),
      unlink: () =>
        Effect.suspend(() => {
          world.deeds.push("unlink")
          return world.isAway ? failing("unavailable") : Effect.void
        }),
      isLinked: () => Effect.succeed(true),
      forget: (channelId) =>
        Effect.sync(() => {
          world.deeds.push("forget")
          world.forgotten.push(channelId)
        }),
      sentId: (clientId) => clientId
    })
  )
