import { Option, Schema } from "effect"
import { Id, perhaps, readable } from "./Fields.ts"

const Micros = Id.pipe(Schema.compose(Schema.NumberFromString), Schema.between(0, Number.MAX_SAFE_INTEGER))

/** One entry of a thread, not only messages. */
export const Item = Schema.Struct({
  item_id: Id,
  user_id: Id,
  timestamp: Micros,
  item_type: Schema.String,
  text: perhaps(Schema.String),
  link: perhaps(Schema.Struct({ text: perhaps(Schema.String) })),
  reel_share: perhaps(Schema.Struct({ text: perhaps(Schema.String) })),
  media: perhaps(Schema.Struct({ media_type: perhaps(Schema.Number) })),
  client_context: perhaps(Id)
})
export type Item = typeof Item.Type

const Participant = Schema.Struct({ pk: Id, username: perhaps(Schema.NonEmptyString) })
export type Participant = typeof Participant.Type

const ThreadId = Id.pipe(Schema.pattern(/^\d+$/))

/** Items are newest first; `oldest_cursor` leads to the older ones when `has_older`. */
export const Thread = Schema.Struct({
  thread_id: ThreadId,
  users: readable(Participant),
  items: readable(Item),
  is_group: perhaps(Schema.Boolean),
  thread_title: perhaps(Schema.String),
  has_older: perhaps(Schema.Boolean),
  oldest_cursor: perhaps(Id)
})
export type Thread = typeof Thread.Type

/** Threads are in the order of their last activity, the latest first. */
export const InboxBody = Schema.Struct({
  inbox: Schema.Struct({
    threads: readable(Thread),
    has_older: perhaps(Schema.Boolean),
    oldest_cursor: perhaps(Id)
  }),
  pending_requests_total: perhaps(Schema.Number)
})
export type InboxBody = typeof InboxBody.Type

export const ThreadBody = Schema.Struct({ thread: Thread })

/** The query for what is older than this page, where there is something. */
export const olderThan = (page: {
  readonly has_older: Option.Option<boolean>
  readonly oldest_cursor: Option.Option<string>
}) =>
  Option.map(
    Option.filter(page.oldest_cursor, () => Option.contains(page.has_older, true)),
    (cursor) => ({ cursor, direction: "older" })
  )
