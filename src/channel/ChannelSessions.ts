import { Context, DateTime, Effect, Layer, Option, Redacted } from "effect"
import { nextId } from "../kit/Id.ts"
import { Seal } from "../kit/Seal.ts"
import type { PlatformFailure, Polled, Session } from "../platform/Platform.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { ChannelRepo } from "./ChannelRepo.ts"
import { ChannelWaker } from "./ChannelWaker.ts"
import { Channel, type ChannelId, connectionData } from "./domain/Channel.ts"
import { afterBlock, afterRateLimit } from "./domain/Pace.ts"
import { Messages } from "./Messages.ts"

/** A connected channel with its session in the clear, for one turn of its actor. */
export interface OpenChannel {
  readonly channel: Channel
  readonly session: Session
  readonly cursor: Option.Option<string>
  /** Neither polls nor sends before this. */
  readonly pausedUntil: Option.Option<DateTime.Utc>
  /** Sends nothing before this. */
  readonly frozenUntil: Option.Option<DateTime.Utc>
  readonly loginCount: number
  readonly setbacks: number
}

/**
 * What the actor of a channel does with its session. Everything but `open` counts only for the login that was opened: a
 * turn that ends after a new login changes nothing.
 */
export class ChannelSessions extends Context.Tag("gatehouse/channel/ChannelSessions")<
  ChannelSessions,
  {
    readonly connected: Effect.Effect<ReadonlyArray<ChannelId>>
    /** None unless the channel is connected. */
    readonly open: (id: ChannelId) => Effect.Effect<Option.Option<OpenChannel>>
    /** Stores what a poll found and where the next one goes on, in one transaction. True when there is news. */
    readonly keep: (open: OpenChannel, polled: Polled) => Effect.Effect<boolean>
    /** The platform asked to slow down, or blocked sending (contract, part 4, "Chats and messages"). */
    readonly rest: (open: OpenChannel, failure: PlatformFailure, what: "all" | "sending") => Effect.Effect<void>
    /** The platform ended the connection: the channel stops trying and says why. */
    readonly lost: (
      open: OpenChannel,
      failure: PlatformFailure,
      status: "error" | "challenge_required"
    ) => Effect.Effect<void>
  }
>() {
  static readonly layer = Layer.effect(
    ChannelSessions,
    Effect.gen(function* () {
      const repo = yield* ChannelRepo
      const messages = yield* Messages
      const outbox = yield* Outbox
      const waker = yield* ChannelWaker
      const seal = yield* Seal

      const open = Effect.fn("ChannelSessions.open")(function* (id: ChannelId) {
        const row = yield* repo.row(id)
        if (Option.isNone(row) || row.value.status !== "connected") return Option.none<OpenChannel>()
        if (Option.isNone(row.value.sessionSealed)) return Option.none<OpenChannel>()
        const session = yield* Effect.orDie(seal.open(row.value.sessionSealed.value, id))
        const { frozenUntil, loginCount, pausedUntil, pollCursor, setbacks } = row.value
        const channel = Channel.make(row.value)
        return Option.some({ channel, session, cursor: pollCursor, pausedUntil, frozenUntil, loginCount, setbacks })
      })

      const keep = Effect.fn("ChannelSessions.keep")(function* (opened: OpenChannel, polled: Polled) {
        const { id } = opened.channel
        const isSame = Redacted.value(polled.session) === Redacted.value(opened.session)
        const sessionSealed = isSame ? Option.none() : Option.some(yield* seal.seal(polled.session, id))
        const progress = repo.synced({
          id,
          loginCount: opened.loginCount,
          sessionSealed,
          pollCursor: polled.cursor,
          at: yield* DateTime.now
        })
        return yield* messages.record(opened.channel, polled.messages, progress)
      })

      const rest = Effect.fn("ChannelSessions.rest")(function* (
        { channel, loginCount, setbacks }: OpenChannel,
        { detail, reason, retryAfter }: PlatformFailure,
        what: "all" | "sending"
      ) {
        const isAll = what === "all"
        const wait = isAll ? afterRateLimit(setbacks + 1, retryAfter) : afterBlock(setbacks + 1)
        const until = DateTime.addDuration(yield* DateTime.now, wait)
        yield* repo.rest({
          id: channel.id,
          loginCount,
          reason,
          pausedUntil: isAll ? Option.some(until) : Option.none(),
          frozenUntil: isAll ? Option.none() : Option.some(until)
        })
        yield* Effect.logWarning("a channel rests").pipe(
          Effect.annotateLogs({ channel: channel.id, what, reason, detail, until: DateTime.formatIso(until) })
        )
      })

      const end = Effect.fn("ChannelSessions.end")(
        function* (id: ChannelId, loginCount: number, status: "error" | "challenge_required", reason: string) {
          const ended = yield* repo.end({ id, loginCount, status, reason })
          if (Option.isNone(ended)) return
          const timestamp = yield* DateTime.now
          const owner = { kind: "account", id } as const
          const data = connectionData(ended.value)
          yield* outbox.publish([{ eventId: yield* nextId, owner, event: "connection.error", timestamp, data }])
        },
        (effect) => outbox.transaction(effect),
        Effect.orDie
      )

      const lost = Effect.fn("ChannelSessions.lost")(function* (
        { channel, loginCount }: OpenChannel,
        { detail, reason }: PlatformFailure,
        status: "error" | "challenge_required"
      ) {
        yield* Effect.logWarning("a channel lost its connection").pipe(
          Effect.annotateLogs({ channel: channel.id, reason, detail })
        )
        yield* end(channel.id, loginCount, status, reason)
        yield* waker.wake(channel.id)
      })

      return ChannelSessions.of({
        connected: Effect.map(repo.connected(), (rows) => rows.map(({ id }) => id)),
        open,
        keep,
        rest,
        lost
      })
    })
  )
}
