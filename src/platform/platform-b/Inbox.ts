import { Array, DateTime, Option, Order, Record, Schema } from "effect"
import { type MessageType, SeenMessage } from "../domain/PlatformEvent.ts"

const Id = Schema.Union(
  Schema.String,
  Schema.transform(Schema.Number, Schema.String, {
    strict: true,
    decode: String,
    encode: Number
  })
)

const Item = Schema.Struct({
  item_id: Id,
  user_id: Id,
  timestamp: Id,
  item_type: Schema.String,
  text: Schema.optional(Schema.String),
  link: Schema.optional(Schema.Struct({ text: Schema.optional(Schema.String) })),
  client_context: Schema.optional(Id)
})
export type Item = typeof Item.Type

const Participant = Schema.Struct({ pk: Id, username: Schema.String, full_name: Schema.optional(Schema.String) })

export const Thread = Schema.Struct({
  thread_id: Id,
  users: Schema.Array(Participant),
  items: Schema.Array(Item),
  is_group: Schema.optional(Schema.Boolean),
  thread_title: Schema.optional(Schema.String),
  has_older: Schema.optional(Schema.Boolean),
  oldest_cursor: Schema.optional(Id)
})
export type Thread = typeof Thread.Type

export const InboxBody = Schema.Struct({ inbox: Schema.Struct({ threads: Schema.Array(Thread) }) })
export const ThreadBody = Schema.Struct({ thread: Thread })

/** The newest item that was reported of each thread; threads that are not named begin at the baseline. Microseconds. */
export const Cursor = Schema.parseJson(
  Schema.Struct({
    baseline: Schema.Number,
    threads: Schema.Record({ key: Schema.String, value: Schema.Tuple(Schema.Number, Schema.String) })
  })
)
export type Cursor = typeof Cursor.Type

export const micros = (item: Item): number => Number(item.timestamp)

/** Threads whose place is kept apart from the baseline. */
const placesKept = 500

export const isNew = (cursor: Cursor, thread: Thread, item: Item): boolean => {
  const place = Record.get(cursor.threads, thread.thread_id)
  if (Option.isNone(place)) return micros(item) > cursor.baseline
  const [at, id] = place.value
  return micros(item) > at || (micros(item) === at && item.item_id !== id)
}

/** Whether the listed items may not reach back to the last one that was reported. */
export const mayHideNewItems = (cursor: Cursor, thread: Thread): boolean =>
  thread.has_older === true && thread.items.length > 0 && thread.items.every((item) => isNew(cursor, thread, item))

const newestOf = (thread: Thread): Option.Option<Item> =>
  Option.map(Option.liftPredicate(Array.isNonEmptyReadonlyArray)(thread.items), (items) =>
    Array.max(items, Order.mapInput(Order.number, micros))
  )

export const baselineOf = (threads: ReadonlyArray<Thread>): Cursor => ({
  baseline: Math.max(0, ...threads.flatMap(({ items }) => items.map(micros))),
  threads: {}
})

/** The cursor after these threads were reported; it never moves back. */
export const advance = (cursor: Cursor, threads: ReadonlyArray<Thread>): Cursor => {
  const places = { ...cursor.threads }
  for (const thread of threads) {
    const newest = Option.filter(newestOf(thread), (item) => isNew(cursor, thread, item))
    if (Option.isSome(newest)) places[thread.thread_id] = [micros(newest.value), newest.value.item_id]
  }
  const entries = Object.entries(places).sort(([, [left]], [, [right]]) => right - left)
  const dropped = entries.slice(placesKept)
  return {
    baseline: Math.max(cursor.baseline, ...dropped.map(([, [at]]) => at)),
    threads: Object.fromEntries(entries.slice(0, placesKept))
  }
}

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

const silent = ["action_log", "placeholder", "video_call_event"]

export const chatIdOf = (threadId: string): string => `pb:${threadId}`

/** Items of a thread in neutral words; what is no message of anybody is left out. */
export const seenOf = (
  thread: Thread,
  items: ReadonlyArray<Item>,
  own: { readonly id: string; readonly username: string }
) =>
  items
    .filter((item) => !silent.includes(item.item_type))
    .map((item) => {
      const isOwn = item.user_id === own.id
      const peers = thread.users.filter(({ pk }) => pk !== own.id)
      const author = thread.users.find(({ pk }) => pk === item.user_id)
      return SeenMessage.make({
        chatId: chatIdOf(thread.thread_id),
        chatType: thread.is_group === true ? "group" : "private",
        chatName: Option.fromNullable(thread.is_group === true ? thread.thread_title : peers[0]?.username),
        platformMessageId: item.item_id,
        direction: isOwn ? "outgoing" : "incoming",
        type: Option.getOrElse(Record.get(types, item.item_type), () => "unsupported" as const),
        sender: isOwn ? Option.some(own.username) : Option.fromNullable(author?.username),
        recipient: isOwn ? Option.fromNullable(peers[0]?.username) : Option.some(own.username),
        body: item.text ?? item.link?.text ?? "",
        clientId: Option.fromNullable(item.client_context),
        timestamp: DateTime.unsafeMake(Math.floor(micros(item) / 1000))
      })
    })
