import { Schema } from "effect"

export const PlatformName = Schema.Literal("platform_a", "platform_b")
export type PlatformName = typeof PlatformName.Type

export const ChatType = Schema.Literal("private", "group", "channel")
export type ChatType = typeof ChatType.Type

export const MessageType = Schema.Literal(
  "text",
  "image",
  "video",
  "audio",
  "document",
  "sticker",
  "location",
  "contact",
  "reaction",
  "unsupported"
)
export type MessageType = typeof MessageType.Type

/**
 * A message seen on a platform, ours or theirs. `chatId` is the public form (`pb:<thread_id>` on platform_b).
 * `clientId` is the id that the sending client chose, when the platform repeats it: it tells our own sends from what a
 * person typed on the phone. `body` is empty for kinds without text.
 */
export class SeenMessage extends Schema.TaggedClass<SeenMessage>()("SeenMessage", {
  chatId: Schema.NonEmptyString,
  chatType: ChatType,
  chatName: Schema.OptionFromNullOr(Schema.String),
  platformMessageId: Schema.NonEmptyString,
  direction: Schema.Literal("incoming", "outgoing"),
  type: MessageType,
  sender: Schema.OptionFromNullOr(Schema.String),
  recipient: Schema.OptionFromNullOr(Schema.String),
  body: Schema.String,
  clientId: Schema.OptionFromNullOr(Schema.String),
  timestamp: Schema.DateTimeUtc
}) {}
