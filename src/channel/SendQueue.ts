import { Context, type DateTime, Effect, Layer, Option } from "effect"
import { together } from "../kit/Together.ts"
import type { ChannelId } from "./domain/Channel.ts"
import { Message } from "./domain/Message.ts"
import type { Marks, Pacing } from "./domain/Pacing.ts"
import { MessageRepo } from "./MessageRepo.ts"

/** A message that may be tried, first of its chat; `opensChat` when nothing is known of a chat with its recipient. */
export interface Unsent {
  readonly message: Message
  readonly opensChat: boolean
}

/** Channels whose next message is read by one statement. */
const channelsAtOnce = 128

/** The outgoing messages of a channel that wait for the platform: strictly ordered in a chat, oldest first over chats. */
export class SendQueue extends Context.Tag("gatehouse/channel/SendQueue")<
  SendQueue,
  {
    /** One that is `sending` may be on the platform already: nobody has heard its answer. */
    readonly next: (id: ChannelId, now: DateTime.Utc) => Effect.Effect<Option.Option<Unsent>>
    /** The moment that the first of the waiting messages waits for. */
    readonly nextMoment: (id: ChannelId, now: DateTime.Utc) => Effect.Effect<Option.Option<DateTime.Utc>>
    /** The earlier sends that decide when this one may be. */
    readonly marks: (message: Message, pacing: Pacing) => Effect.Effect<Marks>
    /** The platform refused it for now: it keeps its place. */
    readonly putBack: (message: Message) => Effect.Effect<void>
    /** The message waits, and with `all` everything that is queued in its channel (`not_before`). */
    readonly defer: (message: Message, until: DateTime.Utc, what: "one" | "all") => Effect.Effect<void>
    /** What waited is looked at again: the channel's pacing or login has changed. */
    readonly release: (id: ChannelId) => Effect.Effect<void>
    /** Channels with messages that may be tried by now. */
    readonly waiting: (now: DateTime.Utc) => Effect.Effect<ReadonlyArray<ChannelId>>
  }
>() {
  static readonly layer = Layer.scoped(
    SendQueue,
    Effect.gen(function* () {
      const repo = yield* MessageRepo

      const nextOf = Effect.fn("SendQueue.nextOf")(function* (
        asked: ReadonlyArray<{ readonly channelId: ChannelId; readonly now: DateTime.Utc }>
      ) {
        const found = new Map((yield* repo.nextUnsent(asked)).map((row) => [row.channelId, row]))
        return asked.map(({ channelId }) =>
          Option.map(Option.fromNullable(found.get(channelId)), ({ isOpening: opensChat, ...row }) => ({
            message: Message.make(row, true),
            opensChat
          }))
        )
      })
      const next = yield* together(channelsAtOnce, nextOf)

      return SendQueue.of({
        next: (channelId, now) => next({ channelId, now }),
        nextMoment: (channelId, now) => repo.nextMoment({ channelId, now }),
        marks: ({ channelId, id }, pacing) => repo.marks(channelId, id, pacing),
        putBack: ({ id }) => Effect.asVoid(repo.move(id, "queued", Option.none())),
        defer: ({ channelId, id }, until, what) =>
          repo.defer(channelId, what === "one" ? Option.some(id) : Option.none(), until),
        release: repo.undefer,
        waiting: (now) => Effect.map(repo.channelsWithUnsent(now), (rows) => rows.map(({ channelId }) => channelId))
      })
    })
  )
}
