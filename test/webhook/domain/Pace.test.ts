import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { allowance, nextIn, stillCounting } from "../../../src/webhook/domain/Pace.ts"

describe("a measure", () => {
  it.prop(
    "is kept in every second, and used up whenever it is asked often enough",
    { most: FastCheck.integer({ min: 1, max: 20 }), pauses: FastCheck.array(FastCheck.integer({ min: 0, max: 700 })) },
    ({ most, pauses }) => {
      const begun: Array<number> = []
      let now = 0
      for (const pause of pauses) {
        now += pause
        const may = allowance(begun, 0, most, now)
        assert.strictEqual(may, most - stillCounting(begun, now).length)
        for (let nth = 0; nth < may; nth++) begun.push(now)
        const within = begun.filter((moment) => moment > now - 1000)
        assert.isAtMost(within.length, most)
      }
    }
  )

  it("counts what waits, and says when there is room again", () => {
    assert.strictEqual(allowance([], 3, 5, 0), 2)
    assert.strictEqual(allowance([0, 100], 3, 5, 500), 0)
    assert.strictEqual(nextIn([0, 100], 500), 500)
    assert.strictEqual(nextIn([0, 100], 1000), 100)
    assert.strictEqual(nextIn([], 0), 0)
  })
})
