import { assert, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { FastCheck, Option } from "effect"
import * as Cursor from "../../../src/platform/platform-b/Cursor.ts"
import { isQuiet, withoutReported } from "../../../src/platform/platform-b/Glance.ts"

const item = FastCheck.record({
  item_id: FastCheck.integer({ min: 1, max: 9 }).map(String),
  timestamp: FastCheck.integer({ min: 1, max: 9 })
})
const threads = FastCheck.uniqueArray(
  FastCheck.record({
    thread_id: FastCheck.integer({ min: 1, max: 5 }).map(String),
    items: FastCheck.array(item, { maxLength: 4 })
  }),
  { selector: ({ thread_id }) => thread_id, maxLength: 4 }
)
const cursors = FastCheck.record({
  baseline: FastCheck.integer({ min: 0, max: 9 }),
  threads: FastCheck.dictionary(
    FastCheck.integer({ min: 1, max: 5 }).map(String),
    FastCheck.tuple(FastCheck.integer({ min: 1, max: 9 }), FastCheck.integer({ min: 1, max: 9 }).map(String))
  )
})

const inboxOf = (all: ReadonlyArray<unknown>) => ({
  inbox: { threads: all },
  pending_requests_total: 0
})
const onTheWire = (one: { item_id: string; timestamp: number }) => ({ ...one, timestamp: String(one.timestamp) })

it.prop("says quiet exactly when no item is new", [threads, cursors], ([all, cursor]) => {
  const body = inboxOf(all.map((thread) => ({ ...thread, items: thread.items.map(onTheWire) })))
  const hasNews = all.some(({ items, thread_id }) => items.some((one) => Cursor.isNew(cursor, { thread_id }, one)))
  assert.strictEqual(isQuiet(body, cursor), !hasNews)
})

it.prop("never says quiet of what it does not know", [FastCheck.jsonValue()], ([odd]) => {
  const cursor = { baseline: 9, threads: {} }
  const thread = { thread_id: "1", items: [odd] }
  assert.isFalse(isQuiet(inboxOf([thread]), cursor))
  if (odd !== 0) assert.isFalse(isQuiet({ ...inboxOf([]), pending_requests_total: odd }, cursor))
  if (!Array.isArray(odd)) assert.isFalse(isQuiet({ inbox: { threads: odd }, pending_requests_total: 0 }, cursor))
})

it("reads a cursor as it was written", () => {
  const cursor = { baseline: 3, threads: { "1": [4, "7"] as const } }
  assert.deepEqual(Option.getOrThrow(Cursor.read(Cursor.write(cursor))).threads["1"]?.[0], 4)
})

it.prop("leaves out nothing that decides what is news", [threads, cursors], ([all, cursor]) => {
  const body = inboxOf(all.map((thread) => ({ ...thread, items: thread.items.map(onTheWire) })))
  const trimmed = withoutReported(body, cursor) as typeof body
  const toldOf = ({ inbox }: typeof body) =>
    inbox.threads.map((thread) => {
      const { items, thread_id } = thread as { thread_id: string; items: ReadonlyArray<ReturnType<typeof onTheWire>> }
      const seen = items.map(({ item_id, timestamp }) => ({ item_id, timestamp: Number(timestamp) }))
      const news = seen.filter((item) => Cursor.isNew(cursor, { thread_id }, item))
      const at = cursor.threads[thread_id]?.[0]
      return {
        thread_id,
        news,
        isAllNew: news.length === seen.length,
        same: seen.filter(({ timestamp }) => timestamp === at)
      }
    })
  const [told, kept] = [toldOf(body), toldOf(trimmed)]
  const isStill = ({ isAllNew, news }: (typeof told)[number]) => news.length === 0 && !isAllNew
  deepStrictEqual(
    kept.filter((thread) => !isStill(thread)),
    told.filter((thread) => !isStill(thread))
  )
  assert.strictEqual(kept.filter(isStill).length, Math.min(2, told.filter(isStill).length))
})
