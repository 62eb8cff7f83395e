import { assert, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Schema } from "effect"
import { DueHeap } from "../../../src/channel/domain/DueHeap.ts"

const Moments = Schema.Array(Schema.Int.pipe(Schema.between(0, 50)))

it.prop(
  "what was added comes out in the order of its moments, and only when it is due",
  [Moments, Moments],
  ([some, more]) => {
    const heap = new DueHeap<number>()
    const drain = (now: number) => {
      const taken: Array<number> = []
      for (let one = heap.take(now); one !== undefined; one = heap.take(now)) taken.push(one)
      return taken
    }
    const inOrder = (moments: ReadonlyArray<number>) => [...moments].sort((left, right) => left - right)
    some.forEach((at) => heap.add(at, at))
    deepStrictEqual(drain(25), inOrder(some.filter((at) => at <= 25)))
    more.forEach((at) => heap.add(at, at))
    const rest = inOrder([...some.filter((at) => at > 25), ...more])
    assert.strictEqual(heap.size, rest.length)
    assert.strictEqual(heap.next, rest[0] ?? Infinity)
    deepStrictEqual(drain(Infinity), rest)
  }
)
