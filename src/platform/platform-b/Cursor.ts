import { Option, Record, Schema } from "effect"
import type { Item, Thread } from "./Inbox.ts"

/** Time of the newest item that was reported (microseconds), and the ids of all items of that time. */
const Place = Schema.Tuple([Schema.Number], Schema.String)
type Place = typeof Place.Type

/** How far each thread was reported; threads that are not named begin at the baseline. */
export const Cursor = Schema.Struct({
  baseline: Schema.Number,
  threads: Schema.Record({ key: Schema.String, value: Place })
})
export type Cursor = typeof Cursor.Type

const Text = Schema.parseJson(Cursor)
export const write = Schema.encodeSync(Text)
export const read = Schema.decodeOption(Text)

/** Threads whose place is kept apart from the baseline. */
const placesKept = 500

export const isNew = (
  cursor: Cursor,
  thread: Pick<Thread, "thread_id">,
  item: Pick<Item, "item_id" | "timestamp">
): boolean => {
  const place = Record.get(cursor.threads, thread.thread_id)
  if (Option.isNone(place)) return item.timestamp > cursor.baseline
  const [at, ...ids] = place.value
  return item.timestamp > at || (item.timestamp === at && !ids.includes(item.item_id))
}

export const hasNews = (cursor: Cursor, thread: Thread): boolean =>
  thread.items.some((item) => isNew(cursor, thread, item))

/** Whether new items may lie beyond the ones that are listed. */
export const mayHideNews = (cursor: Cursor, thread: Thread): boolean =>
  Option.contains(thread.has_older, true) && thread.items.every((item) => isNew(cursor, thread, item))

const newest = (items: ReadonlyArray<Item>): number =>
  items.reduce((latest, { timestamp }) => Math.max(latest, timestamp), 0)

/** Everything that is there now counts as reported. */
export const baselineOf = (threads: ReadonlyArray<Thread>): Cursor => ({
  baseline: newest(threads.flatMap(({ items }) => items)),
  threads: {}
})

const placeOf = ({ items }: Thread): Place => {
  const at = newest(items)
  return [at, ...items.filter(({ timestamp }) => timestamp === at).map(({ item_id }) => item_id)]
}

/** The cursor after these threads were reported; it never moves back. */
export const advance = (cursor: Cursor, threads: ReadonlyArray<Thread>): Cursor => {
  const moved = threads
    .filter((thread) => hasNews(cursor, thread))
    .map((thread) => [thread.thread_id, placeOf(thread)] as const)
  const places = Object.entries({ ...cursor.threads, ...Object.fromEntries(moved) }).sort(
    ([, [left]], [, [right]]) => right - left
  )
  return {
    baseline: Math.max(cursor.baseline, ...places.slice(placesKept).map(([, [at]]) => at)),
    threads: Object.fromEntries(places.slice(0, placesKept))
  }
}
