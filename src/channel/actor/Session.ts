import { Chunk, Clock, Duration, Effect, Option, Random, Ref } from "effect"
import type { ConnectionEnd } from "../../platform/domain/PlatformEvent.ts"
import { type Outlet, PlatformA, PlatformFailure, type PushConnection } from "../../platform/Platform.ts"
import { NextStep, nextStep } from "../domain/Reconnect.ts"
import { LinkedChannels, type LinkedLogin } from "../LinkedChannels.ts"
import { TypingSigns } from "../TypingSigns.ts"

/** A connection that lasted as long as this was a good one: the next loss is the first again. */
const stable = Duration.toMillis("1 minute")

/** The connection of the moment, which messages are sent through. */
export type Live = Ref.Ref<Option.Option<PushConnection>>

const told = {
  /** Something came in. */
  news: Effect.void,
  /** The status of the channel is another. */
  changed: Effect.void
}

/**
 * Keeps one channel connected that is linked to a phone, for as long as its login wants it (contract, part 4, "Accounts"):
 * what the platform says is stored in its order, and a connection that ends is followed by what `nextStep` says.
 */
export const session = Effect.fnUntraced(function* (login: LinkedLogin, live: Live, on: typeof told) {
  const platform = yield* PlatformA
  const linked = yield* LinkedChannels
  const signs = yield* TypingSigns
  const sentText = (platformMessageId: string) => linked.sentText(login.id, platformMessageId)

  /** From the handshake to the end. */
  const connection = Effect.gen(function* () {
    const opened = yield* platform.connect({ channelId: login.id, phoneNumber: login.phoneNumber, sentText })
    yield* Effect.addFinalizer(() => Ref.set(live, Option.none()))
    yield* signs.through(login.id, opened.typing)
    let end: ConnectionEnd = "lost"
    let isOver = false
    while (!isOver) {
      const [events, isDone] = yield* opened.events.takeAll
      const batch = Chunk.toReadonlyArray(events)
      const isConnected = batch.some(({ _tag }) => _tag === "Connected")
      if (isConnected) yield* Ref.set(live, Option.some(opened))
      const isNews = yield* linked.hear(login, batch)
      if (isConnected) yield* on.changed
      if (isNews) yield* on.news
      if (yield* linked.isCurrent(login)) yield* opened.stored(batch.length)
      for (const event of batch) if (event._tag === "Closed") end = event.end
      isOver = isDone
    }
    return end
  }).pipe(Effect.scoped)

  const ended = connection.pipe(
    Effect.map((end) => ({ end, reason: `${end}` })),
    Effect.catchTag("PlatformFailure", ({ detail, reason }) =>
      Effect.as(
        Effect.annotateLogs(Effect.logWarning("a channel could not connect"), { channel: login.id, reason, detail }),
        { end: reason === "driver_missing" ? ("relink_required" as const) : ("lost" as const), reason }
      )
    )
  )

  let times = 0
  let isWanted = true
  while (isWanted) {
    const startedAt = yield* Clock.currentTimeMillis
    const { end, reason } = yield* ended
    times = (yield* Clock.currentTimeMillis) - startedAt >= stable ? 1 : times + 1
    const step = nextStep(end, times, yield* Random.next)
    isWanted = yield* NextStep.$match(step, {
      Left: () => Effect.succeed(false),
      Over: ({ isForgotten, status }) =>
        linked
          .over(login, status, reason, isForgotten)
          .pipe(
            Effect.zipRight(isForgotten ? platform.forget(login.id) : Effect.void),
            Effect.zipRight(on.changed),
            Effect.as(false)
          ),
      Again: ({ isShown, wait }) =>
        (isShown ? Effect.zipRight(linked.lost(login, reason), on.changed) : Effect.void).pipe(
          Effect.zipRight(Effect.sleep(wait)),
          Effect.as(true)
        )
    })
  }
})

const away = new PlatformFailure({
  reason: "unavailable",
  detail: "the channel is not connected at the moment",
  retryAfter: Option.none()
})

/** Sends through the connection of the moment; the platform itself drops what it got before under the same id. */
export const outletOf = Effect.fn("Session.outletOf")(function* (live: Live) {
  const platform = yield* PlatformA
  const linked = yield* LinkedChannels
  const send: Outlet["send"] = (_, message) =>
    Effect.gen(function* () {
      const connection = yield* Ref.get(live)
      if (Option.isNone(connection)) return yield* away
      yield* linked.nameAhead(message.clientId, platform.sentId(message.clientId))
      return yield* connection.value.send(message)
    })
  return { send, findSent: () => Effect.succeedNone } satisfies Outlet
})
