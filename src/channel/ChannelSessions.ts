import { Array, Context, DateTime, Effect, Layer, Option, Random, Redacted } from "effect"
import { nextId } from "../kit/Id.ts"
import { Seal } from "../kit/Seal.ts"
import type { PlatformFailure, Polled, Session } from "../platform/Platform.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { ChannelRepo, type ChannelRow } from "./ChannelRepo.ts"
import { ChannelWaker } from "./ChannelWaker.ts"
import { Channel, type ChannelId, connectionData } from "./domain/Channel.ts"
import { afterBlock, afterRateLimit } from "./domain/Pace.ts"
import { Messages } from "./Messages.ts"
import { QuietPolls } from "./QuietPolls.ts"

/** A connected channel with its session in the clear, for one turn of its actor. */
export interface OpenChannel {
  readonly channel: Channel
  readonly session: Session
  readonly cursor: Option.Option<string>
  readonly loginCount: number
  readonly setbacks: number
  /** Whether messages waited for the platform when it was opened. */
  readonly hasUnsent: boolean
}

/**
 * What the actor of a channel does with its session. Everything but `open` counts only for the login that was opened: a
 * turn that ends after a new login changes nothing.
 */
export class ChannelSessions extends Context.Tag("gatehouse/channel/ChannelSessions")<
  ChannelSessions,
  {
    /** Connected channels that have not been heard of since then. */
    readonly silentSince: (since: DateTime.Utc) => Effect.Effect<ReadonlyArray<ChannelId>>
    /** None unless the channel is connected. Read once for as long as it is attended. */
    readonly open: (id: ChannelId) => Effect.Effect<Option.Option<OpenChannel>>
    /**
     * Reads channels anew and keeps them in memory: for their one actor, which hears of every change by a wake-up. Answers
     * those that are connected.
     */
    readonly attend: (ids: ReadonlyArray<ChannelId>) => Effect.Effect<ReadonlyMap<ChannelId, OpenChannel>>
    readonly unattend: (id: ChannelId) => void
    /**
     * Stores what a poll found and where the next one goes on, in one transaction. True when there is news. A poll that
     * found nothing at all is only noted, together with others (`QuietPolls`).
     */
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
      const quiet = yield* QuietPolls
      const seal = yield* Seal
      const attended = new Map<ChannelId, OpenChannel>()

      const opened = Effect.fn("ChannelSessions.opened")(function* ({ sessionSealed, ...row }: ChannelRow) {
        if (row.status !== "connected" || Option.isNone(sessionSealed)) return Option.none<OpenChannel>()
        const session = yield* Effect.orDie(seal.open(sessionSealed.value, row.id))
        const { hasUnsent, loginCount, pollCursor: cursor, setbacks, ...fields } = row
        return Option.some({ channel: Channel.make(fields), session, cursor, loginCount, setbacks, hasUnsent })
      })

      const read = Effect.fn("ChannelSessions.read")(function* (ids: ReadonlyArray<ChannelId>) {
        const found = Array.getSomes(yield* Effect.forEach(yield* repo.rows(ids), opened))
        return new Map(found.map((one): [ChannelId, OpenChannel] => [one.channel.id, one]))
      })

      const open = (id: ChannelId) =>
        Effect.suspend(() => {
          const known = attended.get(id)
          return known === undefined
            ? Effect.map(read([id]), (found) => Option.fromNullable(found.get(id)))
            : Effect.succeedSome(known)
        })

      /** What is in memory of the same login is never older than the row. */
      const attend = (ids: ReadonlyArray<ChannelId>) =>
        Effect.map(read(ids), (found) => {
          for (const id of ids) {
            const known = attended.get(id)
            const one = found.get(id)
            if (one === undefined) attended.delete(id)
            else if (known?.loginCount !== one.loginCount) attended.set(id, one)
            else attended.set(id, { ...one, session: known.session, cursor: known.cursor })
          }
          return found
        })

      /** What an attended channel is after a turn; nothing when its login was replaced meanwhile. */
      const advance = (opened: OpenChannel, changes: Partial<OpenChannel>) => {
        const known = attended.get(opened.channel.id)
        if (known?.loginCount === opened.loginCount) attended.set(opened.channel.id, { ...known, ...changes })
      }

      const keep = Effect.fn("ChannelSessions.keep")(function* (opened: OpenChannel, polled: Polled) {
        const { id, lastError } = opened.channel
        const at = yield* DateTime.now
        const { loginCount } = opened
        const isSame = Redacted.value(polled.session) === Redacted.value(opened.session)
        const isCalm = Option.isNone(lastError) && opened.setbacks === 0
        const isQuiet = isCalm && isSame && polled.messages.length === 0
        if (isQuiet && Option.contains(opened.cursor, polled.cursor)) {
          quiet.note({ id, loginCount, at }, () => attended.delete(id))
          return false
        }
        const sessionSealed = isSame ? Option.none<string>() : Option.some(yield* seal.seal(polled.session, id))
        const progress = repo.synced({ id, loginCount, sessionSealed, pollCursor: polled.cursor, at })
        const hasNews = yield* messages.record(opened.channel, polled.messages, progress)
        if (!attended.has(id)) return hasNews
        if (isCalm) advance(opened, { session: polled.session, cursor: Option.some(polled.cursor) })
        else yield* attend([id])
        return hasNews
      })

      const rest = Effect.fn("ChannelSessions.rest")(function* (
        { channel, loginCount, setbacks }: OpenChannel,
        { detail, reason, retryAfter }: PlatformFailure,
        what: "all" | "sending"
      ) {
        const isAll = what === "all"
        const wait = isAll ? afterRateLimit(setbacks + 1, retryAfter, yield* Random.next) : afterBlock(setbacks + 1)
        const until = DateTime.addDuration(yield* DateTime.now, wait)
        yield* repo.rest({
          id: channel.id,
          loginCount,
          reason,
          pausedUntil: isAll ? Option.some(until) : Option.none(),
          frozenUntil: isAll ? Option.none() : Option.some(until)
        })
        if (attended.has(channel.id)) yield* attend([channel.id])
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
        attended.delete(channel.id)
        yield* waker.wake(channel.id)
      })

      return ChannelSessions.of({
        silentSince: (since) =>
          Effect.flatMap(DateTime.now, (now) =>
            Effect.map(repo.silentSince({ since, now }), (rows) => rows.map(({ id }) => id))
          ),
        open,
        attend,
        unattend: (id) => void attended.delete(id),
        keep,
        rest,
        lost
      })
    })
  )
}
