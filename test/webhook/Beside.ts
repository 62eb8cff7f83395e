import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { Delivery } from "../../src/webhook/domain/Delivery.ts"
import type { TargetPolicy } from "../../src/webhook/TargetGuard.ts"
import { until } from "../support/Until.ts"
import * as WebhookReceiver from "../support/WebhookReceiver.ts"
import { engine, history, newOwner, publish, register } from "./Engine.ts"

/** A healthy target answers within this beside any other, on a machine that does other things too. */
const soon = 1_000

/** Its attempt and what came of it are two reads of the history. */
export const wasTried = ({ attempts, state }: Delivery): boolean =>
  attempts.length > 0 && state !== "pending" && state !== "delivering"

/**
 * One event for a target that misbehaves while a healthy one beside it gets twenty. The answer is the misbehaving one's
 * delivery after its first attempt. Afterwards no socket of either may stand.
 */
export const besideAHealthyOne = (
  target: { readonly url: string; readonly open?: () => number },
  options: { readonly policy?: TargetPolicy; readonly retryCount?: number; readonly events?: number } = {}
) =>
  Effect.gen(function* () {
    const healthy = yield* WebhookReceiver.make()
    const delivery = yield* Effect.gen(function* () {
      const owner = yield* newOwner()
      const neighbour = yield* newOwner()
      const { retryCount = 5 } = options
      yield* register(owner, target.url, { timeoutSeconds: 1, retryCount })
      yield* register(neighbour, healthy.url)
      for (let nth = 0; nth < (options.events ?? 1); nth++) yield* publish(owner)
      for (let nth = 0; nth < 20; nth++) {
        const before = Date.now()
        yield* publish(neighbour)
        yield* healthy.take
        assert.isBelow(Date.now() - before, soon)
      }
      const [first] = yield* until(history(owner), (all) => all.every(wasTried))
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
