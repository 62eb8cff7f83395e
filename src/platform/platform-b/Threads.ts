import { Effect, Option } from "effect"
import * as Cursor from "./Cursor.ts"
import * as Inbox from "./Inbox.ts"
import { type Line, shaped } from "./PrivateApi.ts"

const listed = {
  visual_message_return_type: "unseen",
  thread_message_limit: "10",
  persistentBadging: "true",
  limit: "20"
}
const pagesOfAnInbox = 25
const pagesOfAThread = 50

/** The first page of the inbox as it came, for a glance at it before it is read. */
export const inbox = (line: Line) => line.call({ method: "GET", path: "/api/v1/direct_v2/inbox/", query: listed })

export const readInbox = shaped(Inbox.InboxBody)

/** One page of the inbox, or of the requests that strangers made. */
export const page = Effect.fn("Threads.page")(function* (
  line: Line,
  box: "inbox" | "pending_inbox",
  older: Readonly<Record<string, string>> = {}
) {
  const path = `/api/v1/direct_v2/${box}/`
  return yield* readInbox(yield* line.call({ method: "GET", path, query: { ...listed, ...older } }))
})

/** Threads with news, page after page until one has an old thread: those behind it were still for longer. */
export const withNews = Effect.fn("Threads.withNews")(function* (
  line: Line,
  box: "inbox" | "pending_inbox",
  cursor: Cursor.Cursor,
  first: Inbox.InboxBody
) {
  const news = (body: Inbox.InboxBody) => body.inbox.threads.filter((thread) => Cursor.hasNews(cursor, thread))
  const found = [...news(first)]
  let last = first
  for (let number = 1; number < pagesOfAnInbox && news(last).length === last.inbox.threads.length; number++) {
    const older = Inbox.olderThan(last.inbox)
    if (Option.isNone(older)) break
    last = yield* page(line, box, older.value)
    found.push(...news(last))
  }
  return found
})

export const thread = Effect.fn("Threads.thread")(function* (
  line: Line,
  id: string,
  older: Readonly<Record<string, string>> = {}
) {
  const query = { visual_message_return_type: "unseen", direction: "older", limit: "20", ...older }
  const reply = yield* line.call({ method: "GET", path: `/api/v1/direct_v2/threads/${id}/`, query })
  return (yield* shaped(Inbox.ThreadBody)(reply)).thread
})

/** A thread with its older pages, for as long as they may hide news. */
export const complete = Effect.fn("Threads.complete")(function* (
  line: Line,
  cursor: Cursor.Cursor,
  listedThread: Inbox.Thread
) {
  let whole = listedThread
  for (let number = 0; number < pagesOfAThread && Cursor.mayHideNews(cursor, whole); number++) {
    const older = Inbox.olderThan(whole)
    if (Option.isNone(older)) return whole
    const { has_older, items, oldest_cursor } = yield* thread(line, whole.thread_id, older.value)
    const known = new Set(whole.items.map(({ item_id }) => item_id))
    const added = items.filter(({ item_id }) => !known.has(item_id))
    if (added.length === 0) return whole
    whole = { ...whole, items: [...whole.items, ...added], has_older, oldest_cursor }
  }
  if (Cursor.mayHideNews(cursor, whole)) yield* Effect.logWarning("a thread has more news than are fetched at once")
  return whole
})
