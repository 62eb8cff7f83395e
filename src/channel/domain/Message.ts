import { Array, DateTime, Option, Schema } from "effect"
import { ChatType, MessageType } from "../../platform/domain/PlatformEvent.ts"
import { ChannelId } from "./Channel.ts"

export const MessageId = Schema.UUID.pipe(Schema.brand("MessageId"))
export type MessageId = typeof MessageId.Type

export const MessageStatus = Schema.Literal("queued", "sending", "sent", "delivered", "read", "failed", "deleted")
export type MessageStatus = typeof MessageStatus.Type

/** Who wrote it: a caller of the API, the AI, a person on the platform's own app, or the other side. */
export const MessageSource = Schema.Literal("api", "ai", "manual", "platform")
export type MessageSource = typeof MessageSource.Type

/** A stored message. Outgoing ones are stored before they are tried; their id is the client id on the platform. */
export class Message extends Schema.Class<Message>("Message")({
  id: MessageId,
  channelId: ChannelId,
  chatId: Schema.String,
  chatType: ChatType,
  platformMessageId: Schema.OptionFromNullOr(Schema.String),
  direction: Schema.Literal("incoming", "outgoing"),
  type: MessageType,
  sender: Schema.OptionFromNullOr(Schema.String),
  recipient: Schema.OptionFromNullOr(Schema.String),
  body: Schema.String,
  status: MessageStatus,
  error: Schema.OptionFromNullOr(Schema.String),
  source: MessageSource,
  /** A queued message is not tried before: a cap is reached, sending rests, or it is being typed. */
  notBefore: Schema.propertySignature(Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate)).pipe(
    Schema.withConstructorDefault(() => Option.none())
  ),
  timestamp: Schema.DateTimeUtcFromDate
}) {
  /** Nothing more will be tried. */
  get isSettled(): boolean {
    return this.status !== "queued" && this.status !== "sending"
  }
}

const next: { readonly [From in MessageStatus]: ReadonlyArray<MessageStatus> } = {
  queued: ["sending", "sent", "failed"],
  sending: ["queued", "sent", "failed"],
  sent: ["delivered", "read", "deleted"],
  delivered: ["read", "deleted"],
  read: ["deleted"],
  failed: [],
  deleted: []
}

/** The statuses that may turn into this one: forward only, but for what the platform refused before it accepted it. */
export const mayComeFrom = (to: MessageStatus): ReadonlyArray<MessageStatus> =>
  Array.filter(MessageStatus.literals, (from) => next[from].includes(to))

/** The message in wire form, also `data` of message events (gateway specification, part 2; contract, part 4). */
export const messageItem = (message: Message) => ({
  message_id: message.id,
  platform_a_message_id: Option.getOrNull(message.platformMessageId),
  chat_id: message.chatId,
  chat_type: message.chatType,
  direction: message.direction,
  type: message.type,
  from: Option.getOrNull(message.sender),
  to: Option.getOrNull(message.recipient),
  body: message.body,
  status: message.status,
  error: Option.getOrNull(message.error),
  source: message.source,
  not_before: message.status === "queued" ? Option.getOrNull(Option.map(message.notBefore, DateTime.formatIso)) : null,
  timestamp: DateTime.formatIso(message.timestamp)
})

/** Whoever wrote to us is no stranger: a message to the name of platform_b goes on in the chat (contract, part 4, Pacing). */
export const namesIn = (messages: ReadonlyArray<Message>): ReadonlyMap<string, string> =>
  new Map(
    messages.flatMap(({ chatId, chatType, direction, sender }) =>
      direction === "incoming" && chatType === "private" && Option.isSome(sender)
        ? [[`pbuser:${sender.value}`, chatId] as const]
        : []
    )
  )
