import { assert, describe, it } from "@effect/vitest"
import { assertNone, deepStrictEqual } from "@effect/vitest/utils"
import { FastCheck, Option, Schema } from "effect"
import * as Cursor from "../../../src/platform/platform-b/Cursor.ts"
import { Thread } from "../../../src/platform/platform-b/Inbox.ts"

const thread = Schema.decodeUnknownSync(Thread)

/** A history: in which thread each item appears, and how many microseconds after the one before it. */
const history = FastCheck.array(
  FastCheck.record({ thread: FastCheck.integer({ min: 1, max: 4 }), gap: FastCheck.integer({ min: 0, max: 2 }) }),
  { maxLength: 60 }
)

const threadsOf = (items: ReadonlyArray<{ readonly thread: number; readonly at: number; readonly id: string }>) =>
  [1, 2, 3, 4]
    .map((number) => items.filter((item) => item.thread === number).reverse())
    .filter(([first]) => first !== undefined)
    .map((all) =>
      thread({
        thread_id: String(all[0]?.thread),
        users: [],
        items: all.map(({ at, id }) => ({ item_id: id, user_id: "1", timestamp: String(at), item_type: "text" }))
      })
    )

describe("the cursor of polling", () => {
  it.prop(
    "reports every later item once, wherever the polls fall",
    [history, FastCheck.infiniteStream(FastCheck.nat(5))],
    ([steps, cuts]) => {
      let at = 1_000
      const items = steps.map(({ gap, thread }, index) => ({ thread, at: (at += gap), id: `item-${index}` }))
      const old = [{ thread: 1, at: 999, id: "old" }]
      let cursor = Cursor.baselineOf(threadsOf(old))
      const reported: Array<string> = []
      for (let shown = 0; shown <= items.length; shown += 1 + cuts.next().value) {
        const threads = threadsOf([...old, ...items.slice(0, shown)])
        for (const one of threads) {
          reported.push(...one.items.filter((item) => Cursor.isNew(cursor, one, item)).map(({ item_id }) => item_id))
        }
        cursor = Option.getOrThrow(Cursor.read(Cursor.write(Cursor.advance(cursor, threads))))
      }
      const last = threadsOf([...old, ...items])
      for (const one of last) {
        reported.push(...one.items.filter((item) => Cursor.isNew(cursor, one, item)).map(({ item_id }) => item_id))
      }
      deepStrictEqual([...reported].sort(), items.map(({ id }) => id).sort())
      assert.isFalse(last.some((one) => Cursor.hasNews(Cursor.advance(cursor, last), one)))
    }
  )

  it("forgets the stillest threads without reporting them again", () => {
    const many = Array.from({ length: 600 }, (_, index) =>
      thread({
        thread_id: String(index),
        users: [],
        items: [{ item_id: `item-${index}`, user_id: "1", timestamp: 1_000 + index, item_type: "text" }]
      })
    )
    const cursor = Cursor.advance({ baseline: 0, threads: {} }, many)
    assert.strictEqual(Object.keys(cursor.threads).length, 500)
    assert.isFalse(many.some((one) => Cursor.hasNews(cursor, one)))
    assert.isBelow(Cursor.write(cursor).length, 30_000)
  })

  it("is none of ours when it is unreadable", () => {
    for (const text of ["", "{}", "[]", '{"baseline":"x","threads":{}}']) {
      assertNone(Cursor.read(text))
    }
  })
})
