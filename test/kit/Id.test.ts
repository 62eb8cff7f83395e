import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, FastCheck, TestClock } from "effect"
import { firstIdAt, nextId } from "../../src/kit/Id.ts"

const moment = FastCheck.integer({ min: 0, max: 4_000_000_000_000 })

describe("ids", () => {
  it.effect.prop("are not below the first id of their moment, and below that of the next", [moment], ([millis]) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(millis)
      const id = yield* nextId
      assert.isTrue(id >= firstIdAt(DateTime.unsafeMake(millis)), id)
      assert.isTrue(id < firstIdAt(DateTime.unsafeMake(millis + 1)), id)
    })
  )
})
