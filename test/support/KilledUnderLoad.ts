import { assert } from "@effect/vitest"
import { Effect, Fiber, Random, Schedule } from "effect"
import { call } from "./Api.ts"
import * as Gatehouse from "./Gatehouse.ts"
import { eventually, makeApp } from "./Story.ts"
import * as TestDatabase from "./TestDatabase.ts"
import * as WebhookReceiver from "./WebhookReceiver.ts"

const callers = 8

interface Attempt {
  readonly delivery_id: string
  readonly code: number
}

interface Delivery {
  readonly state: string
  readonly payload: { readonly data: { readonly app_user_id: string } }
  readonly attempts: ReadonlyArray<Attempt>
}

/**
 * Changes under load, each of which is told by one event, while the program is killed again and again. Whatever was
 * accepted has to arrive, under one event id however often, and the history has to say what arrived.
 */
export const killedUnderLoad = Effect.fn("killedUnderLoad")(function* (kills: number) {
  const DATABASE_URL = yield* TestDatabase.url
  const receiver = yield* WebhookReceiver.make()
  let program = yield* Gatehouse.serve({ DATABASE_URL })
  const { url } = program
  const PORT = new URL(url).port
  const { id, token } = yield* makeApp(url, receiver.url)
  const accepted = new Set<string>()
  let nth = 0

  const change = Effect.gen(function* () {
    const name = `person-${nth++}`
    const answer = yield* Effect.option(
      Effect.tryPromise(() =>
        fetch(`${url}/api/v1/apps/${id}/customers`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body: JSON.stringify({ app_user_id: name })
        }).then(({ status }) => status)
      )
    )
    if (answer._tag === "Some" && answer.value === 201) accepted.add(name)
    else yield* Effect.sleep("50 millis")
  }).pipe(Effect.uninterruptible, Effect.forever)
  const load = yield* Effect.fork(
    Effect.all(
      Array.from({ length: callers }, () => change),
      { concurrency: callers, discard: true }
    )
  )
  for (let kill = 0; kill < kills; kill++) {
    const before = accepted.size
    yield* Effect.repeat(
      Effect.sync(() => accepted.size > before),
      { until: (isAlive) => isAlive, schedule: Schedule.spaced("20 millis") }
    )
    yield* Effect.sleep(yield* Random.nextIntBetween(100, 1_500))
    yield* Gatehouse.kill9(program)
    program = yield* Gatehouse.serve({ DATABASE_URL, PORT })
  }
  yield* Fiber.interrupt(load)

  const pages = Effect.gen(function* () {
    const all: Array<Delivery> = []
    let cursor: string | null = ""
    while (cursor !== null) {
      const more: string = cursor === "" ? "" : `&cursor=${cursor}`
      const { body } = yield* call("GET", `${url}/api/v1/apps/${id}/webhook-deliveries?limit=100${more}`, { token })
      all.push(...body.data)
      cursor = body.next_cursor
    }
    return all
  })
  const history = yield* eventually(
    Effect.map(pages, (all) => (all.every(({ state }) => state === "succeeded") ? all : undefined)).pipe(
      Effect.delay("500 millis")
    ),
    "deliveries that are done"
  ).pipe(Effect.retry(Schedule.recurs(2)))

  const received = new Map<string, Set<string>>()
  for (const { headers, rawBody } of receiver.ledger) {
    const name = String(JSON.parse(rawBody).data.app_user_id)
    const ids = received.get(name) ?? new Set<string>()
    received.set(name, ids.add(String(headers["x-webhook-event-id"])))
  }
  for (const name of accepted) assert.strictEqual(received.get(name)?.size, 1, name)
  const attempts = new Set(receiver.ledger.map(({ headers }) => String(headers["x-webhook-delivery-id"])))
  const told = new Set(history.map(({ payload }) => payload.data.app_user_id))
  for (const name of received.keys()) assert.isTrue(told.has(name), name)
  for (const delivery of history) {
    const last = delivery.attempts.at(-1)
    assert.strictEqual(last?.code, 200)
    assert.isTrue(attempts.has(last?.delivery_id ?? ""))
  }
  return { accepted: accepted.size, events: received.size, requests: receiver.ledger.length }
})
