import { Array, Context, DateTime, Effect, Layer, Option } from "effect"
import { nextId } from "../kit/Id.ts"
import { together } from "../kit/Together.ts"
import type { SentMessage } from "../platform/Platform.ts"
import type { SeenMessage } from "../platform/domain/PlatformEvent.ts"
import { AiLogs } from "../reply/AiLogs.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { ChannelWaker } from "./ChannelWaker.ts"
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
}

/** Messages that are noted as sent by one transaction, and transactions at a time. */
const noting = { atOnce: 64, lanes: 2 }

/**
 * Stored messages and what follows from them (gateway specification, part 6; contract, part 4 "Chats and messages"):
 * rows, chat, events and reply jobs share one transaction, and nothing is stored or told twice.
 */
export class Messages extends Context.Tag("gatehouse/channel/Messages")<
  Messages,
  {
    /**
     * Stores what a poll saw together with `progress`, the writes that must commit with it; when that says false, nothing
     * is stored. True when something came in.
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
    /** The platform has it: once, with its event. */
    readonly sent: (message: Message, sent: SentMessage) => Effect.Effect<void>
    readonly failed: (message: Message, reason: string) => Effect.Effect<void>
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
      const waker = yield* ChannelWaker
      const watch = yield* SendWatch
      const sentMessages = yield* SentMessages
      const { publish, touch } = yield* ChatEvents.make

      const rowOf = Effect.fn("Messages.rowOf")(function* (channel: Channel, seen: SeenMessage) {
        const isIncoming = seen.direction === "incoming"
        const message = Message.make({
          id: MessageId.make(yield* nextId),
          channelId: channel.id,
          chatId: seen.chatId,
          chatType: seen.chatType,
          platformMessageId: Option.some(seen.platformMessageId),
          direction: seen.direction,
          type: seen.type,
          sender: seen.sender,
          recipient: seen.recipient,
          body: seen.body.replaceAll("\0", ""),
          status: isIncoming ? "delivered" : "sent",
          error: Option.none(),
          source: isIncoming ? "platform" : "manual",
          timestamp: seen.timestamp
        })
        return message
      })

      const reconcileOwn = Effect.fn("Messages.reconcileOwn")(function* (
        channel: Channel,
        seen: ReadonlyArray<SeenMessage>
      ) {
        const clientIds = seen.flatMap(({ clientId, direction }) =>
          direction === "outgoing" ? Option.toArray(clientId) : []
        )
        if (clientIds.length === 0) return seen
        const own = new Map(
          (yield* repo.ownAmong({ channelId: channel.id, ids: clientIds })).map((row) => [row.id, row])
        )
        const rowOfSeen = ({ clientId, direction }: SeenMessage) =>
          direction === "outgoing"
            ? Option.flatMapNullable(clientId, (id) => own.get(MessageId.make(id, { disableValidation: true })))
            : Option.none()
        const noted = seen.flatMap((sent) => Option.toArray(rowOfSeen(sent)).map((message) => ({ message, sent })))
        yield* sentMessages.note(noted)
        return seen.filter((message) => Option.isNone(rowOfSeen(message)))
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
          const foreign = yield* reconcileOwn(channel, seen)
          if (foreign.length === 0) return false
          const rows = yield* Effect.forEach(foreign, (message) => rowOf(channel, message))
          const createdAt = yield* DateTime.now
          const isNew = yield* repo.insert(rows.map((row) => ({ ...row, createdAt })))
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
          yield* Effect.forEach(stored, count, { discard: true })
          return incoming.length > 0
        },
        (effect) => outbox.transaction(effect),
        Effect.orDie
      )

      const queueAll = Effect.fn("Messages.queueAll")(function* (inputs: ReadonlyArray<NewMessage>) {
        const now = yield* DateTime.now
        const keys = inputs.map(({ channelId, to: chatId }) => ({ channelId, chatId }))
        const known = new Map(
          (yield* chats.canonical(keys)).map(({ alias, channelId, chatId }) => [`${channelId} ${alias}`, chatId])
        )
        const addressed = inputs.map((input) => ({
          ...input,
          chatId: known.get(`${input.channelId} ${input.to}`) ?? input.to
        }))
        const found = new Map((yield* chats.byIds(addressed)).map((chat) => [`${chat.channelId} ${chat.chatId}`, chat]))
        const queued = addressed.map(({ body, channelId, chatId, id, source, to }) => {
          const chat = Option.fromNullable(found.get(`${channelId} ${chatId}`))
          return Message.make({
            id,
            channelId,
            chatId,
            chatType: Option.match(chat, { onNone: () => "private" as const, onSome: ({ type }) => type }),
            platformMessageId: Option.none(),
            direction: "outgoing",
            type: "text",
            sender: Option.none(),
            recipient: Option.match(chat, {
              onNone: () => Option.some(to.replace(/^pbuser:/, "")),
              onSome: ({ name }) => name
            }),
            body,
            status: "queued",
            error: Option.none(),
            source,
            timestamp: now
          })
        })
        const isNew = yield* repo.insert(queued.map((message) => ({ ...message, createdAt: now })))
        return yield* Effect.forEach(queued, (message) =>
          isNew.has(message.id) ? Effect.succeed(message) : Effect.flatMap(repo.byId(message.id), Effect.orDie)
        )
      })

      const queue = (input: NewMessage) => Effect.map(queueAll([input]), Array.unsafeGet(0))

      /** The next reply of the chat may be due. */
      const settled = Effect.fn("Messages.settled")(function* (message: Message, isNextDue: boolean) {
        yield* watch.settle(message.id)
        if (isNextDue) yield* waker.wake(message.channelId)
      })

      const noteTogether = yield* together(noting, (all: ReadonlyArray<Noted>) =>
        Effect.orDie(outbox.transaction(sentMessages.note(all))).pipe(
          Effect.map((ended) => all.map(({ message }) => ended.has(message.id)))
        )
      )

      const failed = (message: Message, reason: string) =>
        Effect.zipRight(
          repo.move(message.id, "failed", Option.some(reason)),
          message.source === "ai" ? replies.unsent(message.id, reason) : Effect.succeed(false)
        ).pipe((change) => Effect.orDie(outbox.transaction(change)))

      return Messages.of({
        record: (channel, seen, progress) =>
          seen.length === 0 ? Effect.as(progress, false) : store(channel, seen, progress),
        queue,
        queueAll,
        sent: (message, sent) =>
          Effect.flatMap(noteTogether({ message, sent }), (isNextDue) => settled(message, isNextDue)),
        failed: (message, reason) =>
          Effect.flatMap(failed(message, reason), (isNextDue) => settled(message, isNextDue)),
        page: (channelId, chatId, { before, limit }) =>
          repo.page({ channelId, chatId, before: Option.getOrNull(before), limit })
      })
    })
  )
}
