import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Redacted } from "effect"
import { nextId } from "../../src/kit/Id.ts"
import { RateLimit } from "../../src/redis/RateLimit.ts"
import { RedisClient } from "../../src/redis/RedisClient.ts"
import { until } from "../support/Until.ts"

const window = Duration.seconds(2)

/** What every counter must do, wherever it counts. */
const conforms = (name: string, layer: Layer.Layer<RateLimit, unknown>) =>
  it.live(`${name} counts within the window and forgets after it`, () =>
    Effect.gen(function* () {
      const rates = yield* RateLimit
      const key = yield* nextId
      assert.strictEqual((yield* rates.read(key, window)).count, 0)
      yield* rates.add(key, window)
      const second = yield* rates.add(key, window)
      assert.strictEqual(second.count, 2)
      assert.isTrue(Duration.lessThanOrEqualTo(second.resetsIn, window))
      assert.strictEqual((yield* rates.read(key, window)).count, 2)
      assert.strictEqual((yield* rates.read(`${key}-other`, window)).count, 0)
      const left = yield* until(rates.read(key, window), ({ count }) => count !== 2)
      assert.strictEqual(left.count, 0)
    }).pipe(Effect.provide(layer))
  )

describe("rate limit", () => {
  conforms("in process", RateLimit.layerMemory())

  const url = process.env["REDIS_URL"]
  if (url !== undefined) {
    conforms("in Redis", RateLimit.layerRedis.pipe(Layer.provide(RedisClient.layer(Redacted.make(url)))))
  }
})
