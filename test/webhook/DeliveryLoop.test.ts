import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Layer, Option, Queue, TestClock } from "effect"
import { deliveryLoop } from "../../src/webhook/actor/DeliveryLoop.ts"
import type { Settlement } from "../../src/webhook/DeliveryRepo.ts"
import { Dispatch } from "../../src/webhook/Dispatch.ts"
import { DueDelivery } from "../../src/webhook/domain/Delivery.ts"
import { Endpoint } from "../../src/webhook/domain/Endpoint.ts"
import { verdict } from "../../src/webhook/domain/Settle.ts"
import { secretOf } from "../../src/webhook/domain/Signature.ts"
import { DeliveryId, EndpointId } from "../../src/webhook/domain/Webhook.ts"

const id = EndpointId.make("01a1fd14-94fa-7000-8000-00c4e62d5152")
const deliveryId = DeliveryId.make("01a1fd14-94fa-7000-8000-00c4e62d5153")

const target = {
  endpoint: Endpoint.make({
    id,
    ownerKind: "app",
    ownerId: id,
    url: "http://example.com/",
    events: ["*"],
    retryCount: 5,
    timeoutSeconds: 10,
    isActive: true,
    disabledReason: Option.none(),
    createdAt: DateTime.unsafeMake(0)
  }),
  secret: secretOf(new Uint8Array(32))
}

/** One delivery in memory whose attempts answer as scripted; remembers when each was made. */
const world = (answers: ReadonlyArray<number>) => {
  const row = { due: Option.some(DateTime.unsafeMake(0)), attempts: 0, state: "pending", disabled: "" }
  const at: Array<number> = []
  const settle = (settlements: ReadonlyArray<Settlement>) =>
    Effect.sync(() =>
      settlements.forEach((settlement) => {
        row.due = settlement.dueAt
        row.attempts = settlement.attemptCount
        row.state = settlement.state
      })
    )
  const dispatch = Dispatch.of({
    open: () => Effect.succeedSome(target),
    due: (_, except) =>
      Effect.map(DateTime.now, (now) =>
        [...except].length === 0 && Option.exists(row.due, DateTime.lessThanOrEqualTo(now))
          ? [
              DueDelivery.make({
                id: deliveryId,
                eventId: deliveryId,
                event: "x",
                attemptCount: row.attempts,
                body: "{}"
              })
            ]
          : []
      ),
    nextDue: () => Effect.sync(() => row.due),
    attempt: (_, delivery) =>
      Effect.map(DateTime.now, (now) => {
        at.push(Duration.toSeconds(DateTime.distanceDuration(DateTime.unsafeMake(0), now)))
        const code = answers[at.length - 1] ?? 500
        const { disable, ...judged } = verdict({
          attemptCount: delivery.attemptCount,
          retryCount: target.endpoint.retryCount,
          code,
          retryAfter: Option.none(),
          now
        })
        const attempt = { id: deliveryId, startedAt: now, durationMs: 0, code, responseBody: null, error: null }
        return { settlement: { deliveryId, ...judged, attempt }, disable }
      }),
    settle,
    disable: (_, reason) => Effect.sync(() => void (row.disabled = reason)),
    cancel: () => Effect.void
  })
  return { row, at, layer: Layer.succeed(Dispatch, dispatch) }
}

const run = (answers: ReadonlyArray<number>, minutes: number) =>
  Effect.gen(function* () {
    const { at, layer, row } = world(answers)
    const wake = yield* Queue.sliding<void>(1)
    yield* Effect.forkScoped(Effect.provide(deliveryLoop(id, wake), layer))
    for (let second = 0; second < minutes * 60; second += 5) yield* TestClock.adjust("5 seconds")
    return { at, row }
  })

describe("delivery loop", () => {
  it.scoped("repeats exactly at the table's times, then gives up", () =>
    Effect.gen(function* () {
      const { at, row } = yield* run([], 70)
      assert.deepStrictEqual(at, [0, 5, 30, 150, 750, 3750])
      assert.strictEqual(row.state, "exhausted")
    })
  )

  it.scoped("stops at the first success", () =>
    Effect.gen(function* () {
      const { at, row } = yield* run([500, 503, 204], 10)
      assert.deepStrictEqual(at, [0, 5, 30])
      assert.strictEqual(row.state, "succeeded")
    })
  )

  it.scoped("410 disables the endpoint at once", () =>
    Effect.gen(function* () {
      const { at, row } = yield* run([410], 10)
      assert.deepStrictEqual(at, [0])
      assert.include(row.disabled, "410")
    })
  )
})
