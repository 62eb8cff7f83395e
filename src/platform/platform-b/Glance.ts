import { Predicate } from "effect"
import * as Cursor from "./Cursor.ts"

const listIn = (holder: unknown, name: string): ReadonlyArray<unknown> | undefined => {
  const list = Predicate.hasProperty(holder, name) ? holder[name] : undefined
  return Array.isArray(list) ? list : undefined
}

const textIn = (holder: unknown, name: string): string | undefined => {
  const text = Predicate.hasProperty(holder, name) ? holder[name] : undefined
  return typeof text === "string" && text !== "" ? text : undefined
}

/**
 * Whether an inbox certainly has nothing new, by looking only at where threads and items stand: most polls find nothing,
 * and decoding whole items for that would cost more than asking. Any doubt, an unknown shape above all, says no.
 */
export const isQuiet = (body: unknown, cursor: Cursor.Cursor): boolean => {
  if (!Predicate.hasProperty(body, "inbox") || !Predicate.hasProperty(body, "pending_requests_total")) return false
  const threads = listIn(body.inbox, "threads")
  if (body.pending_requests_total !== 0 || threads === undefined) return false
  return threads.every((thread) => {
    const thread_id = textIn(thread, "thread_id")
    const items = listIn(thread, "items")
    if (thread_id === undefined || items === undefined) return false
    return items.every((item) => {
      const item_id = textIn(item, "item_id")
      const timestamp = Number(textIn(item, "timestamp"))
      if (item_id === undefined || !Number.isSafeInteger(timestamp)) return false
      return !Cursor.isNew(cursor, { thread_id }, { item_id, timestamp })
    })
  })
}
