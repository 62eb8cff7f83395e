import { assert, layer } from "@effect/vitest"
import { assertNone } from "@effect/vitest/utils"
import { DateTime, Effect, Option } from "effect"
import { Endpoints } from "../../src/webhook/Endpoints.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { until } from "../support/Until.ts"
import * as WebhookReceiver from "../support/WebhookReceiver.ts"
import { assertSucceeded, assertWaits, besideAHealthyOne } from "./Beside.ts"
import { engine, history, newOwner, publish, register } from "./Engine.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("a target that answers", (it) => {
  it.scoped.each([200, 201, 204])("%i has the event", (status) =>
    Effect.gen(function* () {
      const target = yield* WebhookReceiver.make({ status })
      assertSucceeded(yield* besideAHealthyOne(target), status)
    })
  )

  it.scoped("301 to another host is not followed", () =>
    Effect.gen(function* () {
      const other = yield* WebhookReceiver.make()
      const target = yield* WebhookReceiver.make({ status: 301, headers: { location: other.url } })
      assertWaits(yield* besideAHealthyOne(target), 301, null)
      assert.strictEqual(other.ledger.length, 0)
    })
  )

  it.scoped("302 to a metadata address is not followed", () =>
    Effect.gen(function* () {
      const location = "http://169.254.169.254/latest/meta-data/"
      const target = yield* WebhookReceiver.make({ status: 302, headers: { location } })
      assertWaits(yield* besideAHealthyOne(target), 302, null)
    })
  )

  it.scoped.each([400, 401, 403, 404, 429, 500, 503])("%i is tried again", (status) =>
    Effect.gen(function* () {
      const target = yield* WebhookReceiver.make({ status, body: "no" })
      const delivery = yield* besideAHealthyOne(target)
      assertWaits(delivery, status, null)
      assert.strictEqual(delivery.attempts[0]?.responseBody, "no")
    })
  )

  it.scoped("410 is told nothing more", () =>
    Effect.gen(function* () {
      const target = yield* WebhookReceiver.make({ status: 410 })
      const owner = yield* newOwner()
      const endpoints = yield* Endpoints
      const { endpoint } = yield* register(owner, target.url)
      yield* publish(owner)
      const disabled = yield* until(endpoints.byId(endpoint.id), ({ isActive }) => !isActive)
      assert.strictEqual(Option.getOrNull(disabled.disabledReason), "the target answered 410 Gone")
      yield* publish(owner)
      const [delivery, ...others] = yield* history(owner)
      assert.deepInclude(delivery, { state: "exhausted", attemptCount: 1 })
      assert.strictEqual(others.length, 0)

      const again = yield* endpoints.update(endpoint.id, { isActive: true })
      assertNone(again.disabledReason)
      assertNone(again.failingSince)
      target.script({ status: 200 })
      yield* publish(owner)
      yield* until(history(owner), ([newest]) => newest?.state === "succeeded")
    }).pipe(Effect.provide(engine()))
  )

  it.scoped.each<readonly [number, string, () => string, number]>([
    [429, "seconds", () => "120", 120],
    [503, "seconds", () => "120", 120],
    [429, "a date", () => new Date(Date.now() + 120_500).toUTCString(), 120],
    [429, "a year", () => "31536000", 3_000],
    [429, "the past", () => "Sun, 06 Nov 1994 08:49:37 GMT", 5],
    [503, "nonsense", () => "soon", 5]
  ])("%i with Retry-After as %s is left alone for so long", ([status, , text, seconds]) =>
    Effect.gen(function* () {
      const target = yield* WebhookReceiver.make((response) =>
        response.writeHead(status, { "retry-after": text() }).end()
      )
      const delivery = yield* besideAHealthyOne(target)
      assertWaits(delivery, status, null)
      const [attempt] = delivery.attempts
      const begun = attempt === undefined ? 0 : DateTime.toEpochMillis(attempt.startedAt)
      const waits = Option.match(delivery.dueAt, { onNone: () => 0, onSome: DateTime.toEpochMillis }) - begun
      assert.isAtLeast(waits / 1000, seconds - 1)
      assert.isBelow(waits / 1000, seconds + 15)
    })
  )
})
