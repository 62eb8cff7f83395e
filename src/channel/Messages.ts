import { Array, Context, DateTime, Effect, Layer, Metric, Option } from "effect"
import { nextId } from "../kit/Id.ts"
import { messages as messageCount } from "../Metrics.ts"
import type { SentMessage } from "../platform/Platform.ts"
import type { SeenMessage } from "../platform/domain/PlatformEvent.ts"
import { AiLogs } from "../reply/AiLogs.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { ChannelWaker } from "./ChannelWaker.ts"
import { ChatRepo } from "./ChatRepo.ts"
import type { Channel, ChannelId } from "./domain/Channel.ts"
import { chatItem } from "./domain/Chat.ts"
import type { GatewayEvent } from "./domain/GatewayEvent.ts"
import { Message, MessageId, messageItem, namesIn } from "./domain/Message.ts"
import { MessageRepo } from "./MessageRepo.ts"
import { SendWatch } from "./SendWatch.ts"

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
    readonly queue: (message: {
      readonly id: MessageId
      readonly channelId: ChannelId
      readonly to: string
      readonly body: string
      readonly source: "api" | "ai"
    }) => Effect.Effect<Message>
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
  static readonly layer = Layer.effect(
    Messages,
    Effect.gen(function* () {
      const repo = yield* MessageRepo
      const chats = yield* ChatRepo
      const outbox = yield* Outbox
      const replies = yield* AiLogs
      const waker = yield* ChannelWaker
      const watch = yield* SendWatch

      const count = (message: Message) =>
        Metric.increment(
          Metric.tagged(Metric.tagged(messageCount, "direction", message.direction), "source", message.source)
        )

      const publish = Effect.fn("Messages.publish")(function* (
        channelId: ChannelId,
        events: ReadonlyArray<{ readonly event: GatewayEvent; readonly data: unknown }>
      ) {
        const timestamp = yield* DateTime.now
        const owner = { kind: "account", id: channelId } as const
        const outbound = yield* Effect.forEach(events, ({ data, event }) =>
          Effect.map(nextId, (eventId) => ({ eventId, owner, event, timestamp, data }))
        )
        yield* outbox.publish(outbound)
      })

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

      const touchChat = Effect.fn("Messages.touchChat")(function* (
        of: ReadonlyArray<Message>,
        name: Option.Option<string>
      ) {
        const last = Array.last(of)
        if (Option.isNone(last)) return []
        const { channelId, chatId, chatType, id, timestamp } = last.value
        const unread = of.filter(({ direction }) => direction === "incoming").length
        const isNew = yield* chats.touch({
          channelId,
          chatId,
          type: chatType,
          name,
          unread,
          lastMessageId: id,
          lastMessageAt: timestamp
        })
        const chat = isNew ? yield* chats.byId({ channelId, chatId }) : Option.none()
        return Option.toArray(chat).map((found) => ({ event: "chat.created" as const, data: chatItem(found) }))
      })

      const markSent = Effect.fn("Messages.markSent")(function* (message: Message, sent: SentMessage) {
        const isFirst = yield* repo.markSent(message, sent)
        if (!isFirst) return false
        const stored = Message.make({
          ...message,
          status: "sent",
          error: Option.none(),
          chatId: sent.chatId,
          platformMessageId: Option.some(sent.platformMessageId),
          timestamp: sent.timestamp
        })
        if (message.chatId !== sent.chatId) {
          const alias = { channelId: message.channelId, alias: message.chatId, chatId: sent.chatId }
          yield* chats.learn(alias)
          yield* repo.readdress(alias)
        }
        const name = message.chatId === sent.chatId ? Option.none() : message.recipient
        const created = yield* touchChat([stored], name)
        yield* publish(message.channelId, [...created, { event: "message.sent", data: messageItem(stored) }])
        yield* count(stored)
        return stored.source === "ai" && (yield* replies.settled(stored.id, Option.none()))
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
        yield* Effect.forEach(seen, (message) =>
          Option.match(rowOfSeen(message), {
            onNone: () => Effect.void,
            onSome: (row) => Effect.asVoid(markSent(row, message))
          })
        )
        return seen.filter((message) => Option.isNone(rowOfSeen(message)))
      })

      const learnNames = ({ id, platform }: Channel, stored: ReadonlyArray<Message>) =>
        Effect.forEach(platform === "platform_b" ? namesIn(stored) : [], ([alias, chatId]) =>
          chats.learn({ channelId: id, alias, chatId })
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
          const created = yield* Effect.forEach(
            Object.entries(Array.groupBy(stored, ({ chatId }) => chatId)),
            ([chatId, of]) => touchChat(of, names.get(chatId) ?? Option.none())
          )
          yield* learnNames(channel, stored)
          const told = stored.map((message) => ({
            event: message.direction === "incoming" ? ("message.received" as const) : ("message.sent" as const),
            data: messageItem(message)
          }))
          yield* publish(channel.id, [...created.flat(), ...told])
          const incoming = stored.filter(({ direction }) => direction === "incoming")
          yield* replies.request(incoming.map(({ chatId, id }) => ({ accountId: channel.id, chatId, messageId: id })))
          yield* Effect.forEach(stored, count, { discard: true })
          return incoming.length > 0
        },
        (effect) => outbox.transaction(effect),
        Effect.orDie
      )

      const queue = Effect.fn("Messages.queue")(function* (input: {
        readonly id: MessageId
        readonly channelId: ChannelId
        readonly to: string
        readonly body: string
        readonly source: "api" | "ai"
      }) {
        const { channelId } = input
        const chatId = Option.getOrElse(yield* chats.canonical({ channelId, alias: input.to }), () => input.to)
        const chat = yield* chats.byId({ channelId, chatId })
        const now = yield* DateTime.now
        const message = Message.make({
          id: input.id,
          channelId,
          chatId,
          chatType: Option.match(chat, { onNone: () => "private" as const, onSome: ({ type }) => type }),
          platformMessageId: Option.none(),
          direction: "outgoing",
          type: "text",
          sender: Option.none(),
          recipient: Option.match(chat, {
            onNone: () => Option.some(input.to.replace(/^pbuser:/, "")),
            onSome: ({ name }) => name
          }),
          body: input.body,
          status: "queued",
          error: Option.none(),
          source: input.source,
          timestamp: now
        })
        const isNew = (yield* repo.insert([{ ...message, createdAt: now }])).has(input.id)
        return isNew ? message : yield* Effect.flatMap(repo.byId(input.id), Effect.orDie)
      })

      /** In one transaction with the reply that the message belongs to; the next reply of the chat may be due then. */
      const settle = (message: Message, change: Effect.Effect<boolean>) =>
        Effect.gen(function* () {
          const isNextDue = yield* Effect.orDie(outbox.transaction(change))
          yield* watch.settle(message.id)
          if (isNextDue) yield* waker.wake(message.channelId)
        })

      return Messages.of({
        record: (channel, seen, progress) =>
          seen.length === 0 ? Effect.as(progress, false) : store(channel, seen, progress),
        queue,
        sent: (message, sent) => settle(message, markSent(message, sent)),
        failed: (message, reason) =>
          settle(
            message,
            Effect.zipRight(
              repo.move(message.id, "failed", Option.some(reason)),
              message.source === "ai" ? replies.settled(message.id, Option.some(reason)) : Effect.succeed(false)
            )
          ),
        page: (channelId, chatId, { before, limit }) =>
          repo.page({ channelId, chatId, before: Option.getOrNull(before), limit })
      })
    })
  )
}
