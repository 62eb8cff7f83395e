import { Array, DateTime, Option } from "effect"
import type { BaileysEventMap, proto, WAMessage } from "baileys"
import {
  ChatDescribed,
  GroupChanged,
  MessageDeleted,
  type MessageType,
  type PlatformEvent,
  ReceiptSeen,
  SeenMessage
} from "../domain/PlatformEvent.ts"
import { canonical, isAddress, isGroup, personOf } from "./Addresses.ts"
import type { Library } from "./SilentLibrary.ts"

const types: { readonly [content: string]: MessageType } = {
  conversation: "text",
  extendedTextMessage: "text",
  imageMessage: "image",
  videoMessage: "video",
  ptvMessage: "video",
  audioMessage: "audio",
  documentMessage: "document",
  stickerMessage: "sticker",
  locationMessage: "location",
  liveLocationMessage: "location",
  contactMessage: "contact",
  contactsArrayMessage: "contact",
  reactionMessage: "reaction"
}

/** What the apps of the platform tell each other; nobody wrote it. */
const silent = ["protocolMessage", "senderKeyDistributionMessage", "messageContextInfo", "keepInChatMessage"]

const delivered = 3
const read = 4

const bodyOf = (content: proto.IMessage): string =>
  [
    content.conversation,
    content.extendedTextMessage?.text,
    content.imageMessage?.caption,
    content.videoMessage?.caption,
    content.documentMessage?.caption ?? content.documentMessage?.fileName,
    content.reactionMessage?.text,
    content.contactMessage?.displayName,
    content.locationMessage?.name
  ].find((text) => typeof text === "string" && text !== "") ?? ""

const chatOf = (key: WAMessage["key"]) => canonical([key.remoteJid, key.remoteJidAlt])

/** A message in neutral words, or none for what is no message of anybody or could not be decrypted yet. */
const seenMessage = (library: Library, message: WAMessage, own: string): Option.Option<SeenMessage> => {
  const content = library.normalizeMessageContent(message.message)
  const { id, participant, participantAlt } = message.key
  const { aliases, name: chatId } = chatOf(message.key)
  const hasStub =
    message.messageStubType !== null && message.messageStubType !== undefined && message.messageStubType !== 0
  if (hasStub || !content || !id || !isAddress(chatId)) return Option.none()
  const kind = Object.keys(content).find((name) => !silent.includes(name))
  if (kind === undefined) return Option.none()
  const isOwn = message.key.fromMe === true
  const inGroup = isGroup(chatId)
  const author = inGroup ? canonical([participant, participantAlt]).name : chatId
  return Option.some(
    SeenMessage.make({
      chatId,
      chatType: inGroup ? "group" : "private",
      chatName: inGroup || isOwn ? Option.none() : Option.fromNullable(message.pushName),
      platformMessageId: id,
      direction: isOwn ? "outgoing" : "incoming",
      type: types[kind] ?? "unsupported",
      sender: Option.some(isOwn ? own : author),
      recipient: inGroup ? Option.none() : Option.some(isOwn ? chatId : own),
      body: bodyOf(content),
      clientId: Option.none(),
      timestamp: DateTime.unsafeMake(Number(message.messageTimestamp ?? 0) * 1000),
      aliases
    })
  )
}

const receipt = (key: WAMessage["key"], status: "delivered" | "read"): Option.Option<ReceiptSeen> => {
  const { aliases, name: chatId } = chatOf(key)
  return key.fromMe === true && key.id && isAddress(chatId)
    ? Option.some(ReceiptSeen.make({ chatId, platformMessageIds: [key.id], status, aliases }))
    : Option.none()
}

const statusOf = (status: number | null | undefined) =>
  status === delivered
    ? Option.some("delivered" as const)
    : (status ?? 0) >= read
      ? Option.some("read" as const)
      : Option.none()

const revoke = 1

const updated = ({ key, update }: BaileysEventMap["messages.update"][number]): Option.Option<PlatformEvent> => {
  if (update.message === null && update.messageStubType === revoke && key.id) {
    const { aliases, name: chatId } = chatOf(key)
    const author = update.key ?? key
    const direction = author.fromMe === true ? "outgoing" : "incoming"
    return isAddress(chatId)
      ? Option.some(MessageDeleted.make({ chatId, platformMessageId: key.id, direction, aliases }))
      : Option.none()
  }
  return Option.flatMap(statusOf(update.status), (status) => receipt(key, status))
}

const membersOf = (participants: BaileysEventMap["group-participants.update"]["participants"]) =>
  participants.map(({ id, lid, phoneNumber }) => canonical([phoneNumber, id, lid]).name)

const members = (change: BaileysEventMap["group-participants.update"]): Option.Option<GroupChanged> =>
  change.action === "add" || change.action === "remove"
    ? Option.some(
        GroupChanged.make({
          chatId: change.id,
          change: change.action === "add" ? "added" : "removed",
          participants: membersOf(change.participants),
          by: change.author === "" ? Option.none() : Option.some(canonical([change.authorPn, change.author]).name)
        })
      )
    : Option.none()

/**
 * One batch of the library's events in neutral words: messages before what is said about them. `append` messages waited
 * for us while we were away; those that this session sent itself are not repeated.
 */
export const translate = (
  library: Library,
  events: Partial<BaileysEventMap>,
  own: string
): ReadonlyArray<PlatformEvent> => [
  ...Array.filterMap(events["messages.upsert"]?.messages ?? [], (message) => seenMessage(library, message, own)),
  ...Array.filterMap(events["messages.update"] ?? [], updated),
  ...Array.filterMap(events["message-receipt.update"] ?? [], ({ key, receipt: of }) =>
    receipt(key, of.readTimestamp ? "read" : "delivered")
  ),
  ...Array.fromNullable(events["group-participants.update"]).flatMap((change) => Option.toArray(members(change))),
  ...(events["groups.update"] ?? []).flatMap(({ id, subject }) =>
    id !== undefined && subject !== undefined
      ? [ChatDescribed.make({ chatId: id, name: Option.some(subject), aliases: [] })]
      : []
  ),
  ...Array.fromNullable(events["lid-mapping.update"]).map(({ lid, pn }) =>
    ChatDescribed.make({ chatId: personOf(pn), name: Option.none(), aliases: [personOf(lid)] })
  )
]
