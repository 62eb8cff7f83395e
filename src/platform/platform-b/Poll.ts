import { Array, Effect, Option, Order } from "effect"
import type { Polled, Session } from "../Platform.ts"
import * as Cursor from "./Cursor.ts"
import { isQuiet, withoutReported } from "./Glance.ts"
import type { Thread } from "./Inbox.ts"
import type { Line, PrivateApi } from "./PrivateApi.ts"
import { seenItem } from "./SeenItems.ts"
import { seal, type SessionState, unseal } from "./SessionState.ts"
import * as Threads from "./Threads.ts"

/** Refusals of an approval that say nothing about the session: the request is reported all the same. */
const harmless = ["action_blocked", "not_found"]

const approve = (line: Line, thread: Thread) =>
  Effect.flatMap(line.state, ({ guid }) =>
    line.call({
      method: "POST",
      path: `/api/v1/direct_v2/threads/${thread.thread_id}/approve/`,
      form: { filter: "DEFAULT", _uuid: guid }
    })
  ).pipe(
    Effect.asVoid,
    Effect.catchIf(
      (error) => harmless.includes(error.reason),
      (error) =>
        Effect.logWarning("a message request was not approved").pipe(Effect.annotateLogs("reason", error.reason))
    )
  )

const oldestFirst = Order.mapInput(
  Order.number,
  ({ item }: { readonly item: { readonly timestamp: number } }) => item.timestamp
)

/** The requests call is saved when the inbox says that there are none. */
const requestsOf = (line: Line, total: Option.Option<number>) =>
  Option.contains(total, 0) ? Effect.succeedNone : Effect.asSome(Threads.page(line, "pending_inbox"))

/** A session and a cursor as they were last read, for as long as somebody holds that session. */
interface Known {
  readonly state: SessionState
  readonly cursorText: string | undefined
  readonly cursor: Option.Option<Cursor.Cursor>
}

/** Reads what is new since the cursor; see the port for what a poll promises. */
export const makePoll = (api: PrivateApi) => {
  const known = new WeakMap<Session, Known>()

  const readFrom = Effect.fn("PlatformBDriver.readFrom")(function* (session: Session, text: string | undefined) {
    const last = known.get(session)
    if (last !== undefined && last.cursorText === text) return last
    const state = last?.state ?? (yield* unseal(session))
    const read = { state, cursorText: text, cursor: Option.flatMap(Option.fromNullable(text), Cursor.read) }
    known.set(session, read)
    return read
  })

  return Effect.fn("PlatformBDriver.poll")(function* (session: Session, cursorText: Option.Option<string>) {
    const { cursor: before, state: opened } = yield* readFrom(session, Option.getOrUndefined(cursorText))
    const line = yield* api.open(opened)
    const sessionNow = Effect.map(line.state, (state) => (state === opened ? session : seal(state)))
    const first = yield* Threads.inbox(line)
    if (Option.isSome(before) && Option.isSome(cursorText) && isQuiet(first.rough, before.value)) {
      return { session: yield* sessionNow, cursor: cursorText.value, messages: [] } satisfies Polled
    }
    const inbox = yield* Threads.readInbox({
      ...first,
      body: () =>
        Option.match(before, { onNone: first.body, onSome: (cursor) => withoutReported(first.body(), cursor) })
    })
    const pending = yield* requestsOf(line, inbox.pending_requests_total)
    if (Option.isNone(before)) {
      const requests = Option.match(pending, { onNone: () => [], onSome: (body) => body.inbox.threads })
      const cursor = Cursor.write(Cursor.baselineOf([...inbox.inbox.threads, ...requests]))
      return { session: yield* sessionNow, cursor, messages: [] } satisfies Polled
    }
    const cursor = before.value
    const open = yield* Threads.withNews(line, "inbox", cursor, inbox)
    const requests = Option.isNone(pending) ? [] : yield* Threads.withNews(line, "pending_inbox", cursor, pending.value)
    yield* Effect.forEach(requests, (thread) => approve(line, thread), { discard: true })
    const threads = yield* Effect.forEach(
      Array.dedupeWith([...open, ...requests], (left, right) => left.thread_id === right.thread_id),
      (thread) => Threads.complete(line, cursor, thread)
    )
    const state = yield* line.state
    const own = { id: state.userId ?? "", username: state.username ?? "" }
    const messages = threads
      .flatMap((thread) =>
        thread.items.filter((item) => Cursor.isNew(cursor, thread, item)).map((item) => ({ thread, item }))
      )
      .sort(oldestFirst)
    return {
      session: yield* sessionNow,
      cursor: Cursor.write(Cursor.advance(cursor, threads)),
      messages: Array.filterMap(messages, ({ item, thread }) => seenItem(thread, item, own))
    } satisfies Polled
  })
}
