import { DateTime, Option, Record } from "effect"
import { type MessageType, SeenMessage } from "../domain/PlatformEvent.ts"
import type { Item, Participant, Thread } from "./Inbox.ts"

const types: { readonly [itemType: string]: MessageType } = {
  text: "text",
  link: "text",
  media: "image",
  raven_media: "image",
  voice_media: "audio",
  like: "reaction",
  animated_media: "sticker",
  location: "location"
}

/** Items that nobody wrote. */
const silent = ["action_log", "placeholder", "video_call_event"]
const video = 2

export const chatIdOf = (threadId: string): string => `pb:${threadId}`

export const timeOf = (item: { readonly timestamp: number }): DateTime.Utc =>
  DateTime.unsafeMake(Math.floor(item.timestamp / 1000))

const typeOf = ({ item_type, media }: Item): MessageType =>
  item_type === "media" && Option.exists(media, ({ media_type }) => Option.contains(media_type, video))
    ? "video"
    : Option.getOrElse(Record.get(types, item_type), () => "unsupported" as const)

const bodyOf = ({ link, reel_share, text }: Item): string =>
  Option.getOrElse(
    Option.firstSomeOf([
      text,
      Option.flatMap(link, (value) => value.text),
      Option.flatMap(reel_share, (value) => value.text)
    ]),
    () => ""
  )

const nameOf = (user: Participant): string => Option.getOrElse(user.username, () => user.pk)

/** An item of a thread in neutral words, or none for what is no message of anybody. */
export const seenItem = (
  thread: Thread,
  item: Item,
  own: { readonly id: string; readonly username: string }
): Option.Option<SeenMessage> => {
  if (silent.includes(item.item_type)) return Option.none()
  const isOwn = item.user_id === own.id
  const isGroup = Option.contains(thread.is_group, true)
  const peer = Option.map(Option.fromNullable(thread.users.find(({ pk }) => pk !== own.id)), nameOf)
  const author = thread.users.find(({ pk }) => pk === item.user_id)
  return Option.some(
    SeenMessage.make(
      {
        chatId: chatIdOf(thread.thread_id),
        chatType: isGroup ? "group" : "private",
        chatName: isGroup ? thread.thread_title : peer,
        platformMessageId: item.item_id,
        direction: isOwn ? "outgoing" : "incoming",
        type: typeOf(item),
        sender: Option.some(isOwn ? own.username : author === undefined ? item.user_id : nameOf(author)),
        recipient: isGroup ? Option.none() : isOwn ? peer : Option.some(own.username),
        body: bodyOf(item),
        clientId: item.client_context,
        timestamp: timeOf(item)
      },
      true
    )
  )
}
