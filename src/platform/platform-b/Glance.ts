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

/** What a glance tells of an item: when it was written, and whether it was reported; none in any doubt. */
const known = (cursor: Cursor.Cursor, thread_id: string | undefined, item: unknown) => {
  const item_id = textIn(item, "item_id")
  const timestamp = Number(textIn(item, "timestamp"))
  if (thread_id === undefined || item_id === undefined || !Number.isSafeInteger(timestamp)) return undefined
  return { timestamp, isOld: !Cursor.isNew(cursor, { thread_id }, { item_id, timestamp }) }
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
    return items?.every((item) => known(cursor, thread_id, item)?.isOld === true) ?? false
  })
}

/** Without items that were certainly reported; one stays, which tells that nothing older is news. */
const trimmed = (cursor: Cursor.Cursor, thread: unknown) => {
  const items = listIn(thread, "items")
  if (!Predicate.isRecord(thread) || items === undefined) return { thread, isStill: false }
  const thread_id = textIn(thread, "thread_id")
  const at = cursor.threads[thread_id ?? ""]?.[0]
  const glances = items.map((item) => known(cursor, thread_id, item))
  const firstOld = glances.findIndex((glance) => glance?.isOld === true)
  const kept = items.filter((_, nth) => {
    const glance = glances[nth]
    return glance?.isOld !== true || glance.timestamp === at || nth === firstOld
  })
  const isStill = items.length > 0 && glances.every((glance) => glance?.isOld === true)
  return { thread: { ...thread, items: kept }, isStill }
}

/**
 * The body of an inbox without what was certainly reported, which needs no decoding: items, of which one stays and those
 * that have the time of their thread's place, and threads that have nothing else, of which the first two stay: either tells
 * that the pages behind have no news, should the other be unreadable.
 */
export const withoutReported = (body: unknown, cursor: Cursor.Cursor): unknown => {
  const inbox = Predicate.hasProperty(body, "inbox") ? body.inbox : undefined
  const threads = listIn(inbox, "threads")
  if (!Predicate.isRecord(body) || !Predicate.isRecord(inbox) || threads === undefined) return body
  const all = threads.map((thread) => trimmed(cursor, thread))
  const still = all.filter(({ isStill }) => isStill).slice(2)
  const kept = all.filter((one) => !still.includes(one)).map(({ thread }) => thread)
  return { ...body, inbox: { ...inbox, threads: kept } }
}
