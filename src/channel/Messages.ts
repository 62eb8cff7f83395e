import { Array, Context, DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import { nextId } from "../kit/Id.ts"
import { together } from "../kit/Together.ts"
import type { SentMessage } from "../platform/Platform.ts"
import type { SeenMessage } from "../platform/domain/PlatformEvent.ts"
import { storableMessage } from "../platform/domain/StorableEvent.ts"
import { storableId } from "../platform/domain/StorableText.ts"
import { AiLogs } from "../reply/AiLogs.ts"
import { Outbox } from "../webhook/Outbox.ts"
import * as ChatEvents from "./ChatEvents.ts"
import { ChatRepo } from "./ChatRepo.ts"
import type { Channel, ChannelId } from "./domain/Channel.ts"
import { Message, MessageId, messageItem, namesIn } from "./domain/Message.ts"
import { MessageRepo } from "./MessageRepo.ts"
import { SendWatch } from "./SendWatch.ts"
import { count, type Noted, SentMessages } from "./SentMessages.ts"

export interface NewMessage {
  readonly id: MessageId
  readonly channelId: ChannelId
  readonly to: string
  readonly body: string
  readonly source: "api" | "ai"
  /** It is not tried before. */
  readonly notBefore?: DateTime.Utc
}

/** Other apps give their messages ids of other kinds. */
const isId = Schema.is(MessageId)

const storable = ({ chatId, platformMessageId, timestamp }: SentMessage): SentMessage => ({
  chatId: storableId(chatId),
  platformMessageId: storableId(platformMessageId),
  timestamp
})

/** Messages that are noted as sent by one transaction, and how long it waits for others while there are several. */
const notedAtOnce = 64
const noting = Duration.millis(20)

const rowOf = (channel: Channel, seen: SeenMessage, id: string): Message => {
  const isIncoming = seen.direction === "incoming"
  return Message.make(
    {
      id: MessageId.make(id),
      channelId: channel.id,
      chatId: seen.chatId,
      chatType: seen.chatType,
      platformMessageId: Option.some(seen.platformMessageId),
      direction: seen.direction,
      type: seen.type,
      sender: seen.sender,
      recipient: seen.recipient,
      body: seen.body,
      status: isIncoming ? "delivered" : "sent",
      error: Option.none(),
      source: isIncoming ? "platform" : "manual",
      timestamp: seen.timestamp
    },
    true
  )
}

/**
 * Stored messages and what follows from them (gateway specification, part 6; contract, part 4 "Chats and messages"):
 * rows, chat, events and reply jobs share one transaction, and nothing is stored or told twice.
 */
export class Messages extends Context.Tag("gatehouse/channel/Messages")<
  Messages,
  {
    /**
     * Stores what a poll saw together with `progress`, the writes that must commit with it; when that says false, nothing
     * is stored. True when there may be something to answer.
     */
    readonly record: (
      channel: Channel,
      seen: ReadonlyArray<SeenMessage>,
      progress: Effect.Effect<boolean>
    ) => Effect.Effect<boolean>
    /** Puts an outgoing message into the channel's queue: joins the caller's transaction. */
    readonly queue: (message: NewMessage) => Effect.Effect<Message>
    /** The same for several, in their order. */
    readonly queueAll: (messages: ReadonlyArray<NewMessage>) => Effect.Effect<ReadonlyArray<Message>>
    /** The platform has it: once, with its event. Answers the chat where another reply is due thereby. */
    readonly sent: (message: Message, sent: SentMessage) => Effect.Effect<Option.Option<string>>
    /** It will not be sent. Answers the same. */
    readonly failed: (message: Message, reason: string) => Effect.Effect<Option.Option<string>>
    readonly page: (
      channelId: ChannelId,
      chatId: string,
      page: { readonly before: Option.Option<string>; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<Message>>
  }
>() {
  static readonly layer = Layer.scoped(
    Messages,
    Effect.gen(function* () {
      const repo = yield* MessageRepo
      const chats = yield* ChatRepo
      const outbox = yield* Outbox
      const replies = yield* AiLogs
      const watch = yield* SendWatch
      const sentMessages = yield* SentMessages
      const { publish, touch } = yield* ChatEvents.make

      const reconcileOwn = Effect.fn("Messages.reconcileOwn")(function* (
        channel: Channel,
        seen: ReadonlyArray<SeenMessage>
      ) {
        const clientIds = seen.flatMap(({ clientId, direction }) =>
          direction === "outgoing" ? Option.toArray(Option.filter(clientId, isId)) : []
        )
        if (clientIds.length === 0) return { foreign: seen, isNextDue: false }
        const own = yield* repo.ownAmong({ channelId: channel.id, ids: clientIds })
        const known = new Set<string>(own.map(({ id }) => id))
        const isOwn = ({ clientId, direction }: SeenMessage) =>
          direction === "outgoing" && Option.exists(clientId, (id) => known.has(id))
        const open = own.filter(({ isOpen }) => isOpen).map(({ id }) => id)
        const byId = new Map<string, Message>(
          (open.length === 0 ? [] : yield* repo.byIds(open)).map((message) => [message.id, message])
        )
        const noted = seen.filter(isOwn).flatMap((sent) =>
          Option.toArray(Option.flatMapNullable(sent.clientId, (id) => byId.get(id))).map((message) => ({
            message,
            sent
          }))
        )
        const ended = yield* sentMessages.note(noted)
        return { foreign: seen.filter((message) => !isOwn(message)), isNextDue: ended.size > 0 }
      })

      const learnNames = ({ id, platform }: Channel, stored: ReadonlyArray<Message>) =>
        chats.learn(
          platform === "platform_b"
            ? [...namesIn(stored)].map(([alias, chatId]) => ({ channelId: id, alias, chatId }))
            : []
        )

      const store = Effect.fn("Messages.store")(
        function* (channel: Channel, seen: ReadonlyArray<SeenMessage>, progress: Effect.Effect<boolean>) {
          if (!(yield* progress)) return false
          const { foreign, isNextDue } = yield* reconcileOwn(channel, seen)
          if (foreign.length === 0) return isNextDue
          const rows = yield* Effect.forEach(foreign, (message) =>
            Effect.map(nextId, (id) => rowOf(channel, message, id))
          )
          const createdAt = yield* DateTime.now
          const isNew = yield* repo.insert(rows.map((message) => ({ message, createdAt })))
          const stored = rows.filter(({ id }) => isNew.has(id))
          const names = new Map(foreign.map(({ chatId, chatName }) => [chatId, chatName]))
          const ofChats = Object.values(Array.groupBy(stored, ({ chatId }) => chatId))
          const created = yield* touch(
            ofChats.map((of) => ({ messages: of, name: names.get(of[0].chatId) ?? Option.none() }))
          )
          yield* learnNames(channel, stored)
          const told = stored.map((message) => ({
            channelId: channel.id,
            event: message.direction === "incoming" ? ("message.received" as const) : ("message.sent" as const),
            data: messageItem(message)
          }))
          yield* publish([...created, ...told])
          const incoming = stored.filter(({ direction }) => direction === "incoming")
          yield* replies.request(incoming.map(({ chatId, id }) => ({ accountId: channel.id, chatId, messageId: id })))
          yield* count(stored)
          return isNextDue || incoming.length > 0
        },
        (effect) => outbox.transaction(effect),
        Effect.orDie
      )

      const queueAll = Effect.fn("Messages.queueAll")(function* (inputs: ReadonlyArray<NewMessage>) {
        const now = yield* DateTime.now
        const found = yield* chats.addressed(inputs.map(({ channelId, to: chatId }) => ({ channelId, chatId })))
        const queued = Array.zipWith(
          inputs,
          found,
          ({ body, channelId, id, notBefore, source, to }, { chatId, name, type }) =>
            Message.make(
              {
                id,
                channelId,
                chatId,
                chatType: type ?? "private",
                platformMessageId: Option.none(),
                direction: "outgoing",
                type: "text",
                sender: Option.none(),
                recipient: type === null ? Option.some(to.replace(/^pbuser:/, "")) : name,
                body,
                status: "queued",
                error: Option.none(),
                source,
                notBefore: Option.fromNullable(notBefore),
                timestamp: now
              },
              true
            )
        )
        const isNew = yield* repo.insert(queued.map((message) => ({ message, createdAt: now })))
        return yield* Effect.forEach(queued, (message) =>
          isNew.has(message.id) ? Effect.succeed(message) : Effect.flatMap(repo.byId(message.id), Effect.orDie)
        )
      })

      const queue = (input: NewMessage) => Effect.map(queueAll([input]), Array.unsafeGet(0))

      const noteTogether = yield* together(
        notedAtOnce,
        (all: ReadonlyArray<Noted>) =>
          Effect.orDie(outbox.transaction(sentMessages.note(all))).pipe(
            Effect.map((ended) => all.map(({ message }) => Option.fromNullable(ended.get(message.id))))
          ),
        noting
      )

      const failed = (message: Message, reason: string) =>
        Effect.zipRight(
          repo.move(message.id, "failed", Option.some(reason)),
          message.source === "ai" ? replies.unsent(message.id, reason) : Effect.succeedNone
        ).pipe((change) => Effect.orDie(outbox.transaction(change)))

      return Messages.of({
        record: (channel, seen, progress) =>
          seen.length === 0 ? Effect.as(progress, false) : store(channel, seen.map(storableMessage), progress),
        queue,
        queueAll,
        sent: (message, sent) =>
          Effect.zipLeft(noteTogether({ message, sent: storable(sent) }), watch.settle(message.id)),
        failed: (message, reason) => Effect.zipLeft(failed(message, reason), watch.settle(message.id)),
        page: (channelId, chatId, { before, limit }) =>
          repo.page({ channelId, chatId, before: Option.getOrNull(before), limit })
      })
    })
  )
}
