import { assert } from "@effect/vitest"
import { SqlClient } from "@effect/sql"
import { Effect, Fiber, Option } from "effect"
import type { Delivery } from "../../src/webhook/domain/Delivery.ts"
import type { TargetPolicy } from "../../src/webhook/TargetGuard.ts"
import { until } from "../support/Until.ts"
import * as WebhookReceiver from "../support/WebhookReceiver.ts"
import { engine, history, newOwner, publish, register } from "./Engine.ts"

/** A healthy target answers within so many beats beside any other: about half a second on a machine at rest. */
const soon = 50

/** Counts turns of some work for the clock and the database, which are slower on a busy machine as everything is. */
const beating = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const beats = { count: 0 }
  yield* Effect.sleep("10 millis").pipe(
    Effect.zipRight(sql`SELECT 1`),
    Effect.tap(() => Effect.sync(() => (beats.count += 1))),
    Effect.forever,
    Effect.forkScoped
  )
  return beats
})

/** Its attempt and what came of it are two reads of the history. */
export const wasTried = ({ attempts, state }: Delivery): boolean =>
  attempts.length > 0 && state !== "pending" && state !== "delivering"

/**
 * One event for a target that misbehaves while a healthy one beside it gets twenty. The answer is the misbehaving one's
 * delivery after its first attempt. Afterwards no socket of either may stand.
 */
export const besideAHealthyOne = (
  target: { readonly url: string; readonly open?: () => number },
  options: { readonly policy?: TargetPolicy; readonly timeoutSeconds?: number; readonly events?: number } = {}
) =>
  Effect.gen(function* () {
    const healthy = yield* WebhookReceiver.make()
    const delivery = yield* Effect.gen(function* () {
      const owner = yield* newOwner()
      const neighbour = yield* newOwner()
      yield* register(owner, target.url, { timeoutSeconds: options.timeoutSeconds ?? 10 })
      yield* register(neighbour, healthy.url)
      for (let nth = 0; nth < (options.events ?? 1); nth++) yield* publish(owner)
      const tried = yield* Effect.fork(until(history(owner), (all) => all.every(wasTried)))
      const beats = yield* beating
      for (let nth = 0; nth < 20; nth++) {
        const before = beats.count
        yield* publish(neighbour)
        yield* healthy.take
        assert.isBelow(beats.count - before, soon)
      }
      const [first] = yield* Fiber.join(tried)
      return Option.getOrThrow(Option.fromNullable(first))
    }).pipe(Effect.provide(engine(options.policy)), Effect.scoped)
    if (target.open !== undefined) yield* until(Effect.sync(target.open), (count) => count === 0)
    return delivery
  })

/** Tried once and not lost: it waits for its next attempt as the table says. */
export const assertWaits = (delivery: Delivery, code: number, error: RegExp | null) => {
  assert.strictEqual(delivery.state, "failed")
  assert.isTrue(Option.isSome(delivery.dueAt))
  assert.strictEqual(delivery.attempts.length, 1)
  const [attempt] = delivery.attempts
  assert.strictEqual(attempt?.code, code)
  if (error === null) assert.isNull(attempt?.error)
  else assert.match(attempt?.error ?? "", error)
}

export const assertSucceeded = (delivery: Delivery, code: number) => {
  assert.strictEqual(delivery.state, "succeeded")
  assert.strictEqual(delivery.attempts.length, 1)
  assert.strictEqual(delivery.attempts[0]?.code, code)
}
