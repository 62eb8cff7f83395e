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

const Aliases = Schema.Array(Schema.NonEmptyString).pipe(
  Schema.propertySignature,
  Schema.withConstructorDefault(() => [])
)

/**
 * A message seen on a platform, ours or theirs. `chatId` is the public form (`pb:<thread_id>` on platform_b).
 * `clientId` is the id that the sending client chose, when the platform repeats it: it tells our own sends from what a
 * person typed on the phone. `aliases` are other names that the platform has for the same chat. `body` is empty for kinds
 * without text.
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
  timestamp: Schema.DateTimeUtc,
  aliases: Aliases
}) {}

/** The other side has got, or has read, messages of ours: it may be told twice, late, and without the steps before. */
export class ReceiptSeen extends Schema.TaggedClass<ReceiptSeen>()("ReceiptSeen", {
  chatId: Schema.NonEmptyString,
  platformMessageIds: Schema.Array(Schema.NonEmptyString),
  status: Schema.Literal("delivered", "read"),
  aliases: Aliases
}) {}

/** A message was taken back for everyone; one of `direction` only, since nobody may take back what another side wrote. */
export class MessageDeleted extends Schema.TaggedClass<MessageDeleted>()("MessageDeleted", {
  chatId: Schema.NonEmptyString,
  platformMessageId: Schema.NonEmptyString,
  direction: Schema.Literal("incoming", "outgoing"),
  aliases: Aliases
}) {}

/** People joined a group, or left it or were sent away. `by` is who did it, when the platform says so. */
export class GroupChanged extends Schema.TaggedClass<GroupChanged>()("GroupChanged", {
  chatId: Schema.NonEmptyString,
  change: Schema.Literal("added", "removed"),
  participants: Schema.Array(Schema.NonEmptyString),
  by: Schema.OptionFromNullOr(Schema.String)
}) {}

/** What the platform says about a chat besides its messages; a chat that is not stored stays so. */
export class ChatDescribed extends Schema.TaggedClass<ChatDescribed>()("ChatDescribed", {
  chatId: Schema.NonEmptyString,
  name: Schema.OptionFromNullOr(Schema.String),
  aliases: Aliases
}) {}

/** Scan this before it expires; the next one follows by itself, until the platform has had enough. */
export class QrShown extends Schema.TaggedClass<QrShown>()("QrShown", {
  qr: Schema.Redacted(Schema.NonEmptyString),
  expiresAt: Schema.DateTimeUtc
}) {}

/** Type this on the phone before it expires. */
export class PairingCodeShown extends Schema.TaggedClass<PairingCodeShown>()("PairingCodeShown", {
  code: Schema.Redacted(Schema.NonEmptyString),
  expiresAt: Schema.DateTimeUtc
}) {}

/** Messages flow. `address` is the platform's own name of the account. */
export class Connected extends Schema.TaggedClass<Connected>()("Connected", {
  address: Schema.NonEmptyString,
  username: Schema.NonEmptyString
}) {}

/**
 * Why a connection ended.
 * - `restart`: the platform asks to connect again at once, with the same session
 * - `lost`: network, time-out, trouble of the platform: connect again, later each time
 * - `slow_down`: too many connections: wait for minutes
 * - `qr_expired`: nobody scanned a QR code in time
 * - `logged_out`: the session was ended on the phone or by the platform; it is gone for good
 * - `banned`: the platform refuses the account
 * - `replaced`: somebody else opened the same session
 * - `app_version_rejected`: the client is too old for the platform
 * - `relink_required`: the session does not fit any longer and must be linked anew
 * - `stopped`: we closed it
 */
export const ConnectionEnd = Schema.Literal(
  "restart",
  "lost",
  "slow_down",
  "qr_expired",
  "logged_out",
  "banned",
  "replaced",
  "app_version_rejected",
  "relink_required",
  "stopped"
)
export type ConnectionEnd = typeof ConnectionEnd.Type

/** The last event of a connection; `code` is the platform's own. */
export class Closed extends Schema.TaggedClass<Closed>()("Closed", {
  end: ConnectionEnd,
  code: Schema.OptionFromNullOr(Schema.Int)
}) {}

/** What a platform that pushes says, in the order in which it says it. */
export type PlatformEvent =
  | SeenMessage
  | ReceiptSeen
  | MessageDeleted
  | GroupChanged
  | ChatDescribed
  | QrShown
  | PairingCodeShown
  | Connected
  | Closed
