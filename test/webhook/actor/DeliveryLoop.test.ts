import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import {
  Deferred,
  Duration,
  Effect,
  Fiber,
  FiberSet,
  HashMap,
  Layer,
  Logger,
  Option,
  Queue,
  Redacted,
  TestClock
} from "effect"
import { Seal } from "../../../src/kit/Seal.ts"
import type { Intake } from "../../../src/webhook/actor/AwakeEndpoints.ts"
import { deliveryLoop } from "../../../src/webhook/actor/DeliveryLoop.ts"
import { Attempt, type AttemptOutcome, type AttemptRequest } from "../../../src/webhook/Attempt.ts"
import { Dispatch } from "../../../src/webhook/Dispatch.ts"
import { seal } from "../Engine.ts"
import { endpointId, makeMemoryQueue, type Row } from "./MemoryQueue.ts"

const answered = (code: number, retryAfter: string | null = null): AttemptOutcome => ({
  code,
  responseBody: null,
  retryAfter: Option.fromNullable(retryAfter),
  error: null,
  durationMs: 0
})

interface Sent {
  readonly at: number
  readonly request: AttemptRequest
}

/** A loop over a queue in memory, whose target answers as `respond` says; `sent` has the virtual time of each attempt. */
const start = (
  respond: (nth: number, hanging: Effect.Effect<AttemptOutcome>) => Effect.Effect<AttemptOutcome>,
  options: { readonly retryCount?: number; readonly rows?: number; readonly row?: Partial<Row> } = {}
) =>
  Effect.gen(function* () {
    const secretSealed = yield* Effect.flatMap(Seal, (sealer) =>
      sealer.seal(Redacted.make("whsec_c2VjcmV0"), endpointId)
    ).pipe(Effect.provide(seal))
    const queue = makeMemoryQueue({ retryCount: options.retryCount ?? 5, secretSealed })
    queue.add(options.rows ?? 1, options.row)
    const sent: Array<Sent> = []
    const end = yield* Deferred.make<AttemptOutcome>()
    const run = yield* FiberSet.makeRuntime<never>()
    const attempt = Layer.succeed(Attempt, {
      begin: (request, landed) =>
        void run(
          Effect.flatMap(TestClock.currentTimeMillis, (at) =>
            Effect.map(respond(sent.push({ at, request }), Deferred.await(end)), landed)
          )
        )
    })
    const wake = yield* Queue.sliding<void>(1)
    const heard = yield* Deferred.make<Intake>()
    const dispatch = Dispatch.layer.pipe(Layer.provide([queue.layer, attempt, seal]))
    const listen = (intake: Intake) => Effect.as(Deferred.succeed(heard, intake), wake)
    const fiber = yield* deliveryLoop(endpointId, listen).pipe(Effect.provide(dispatch), Effect.forkScoped)
    yield* Effect.addFinalizer(() => Deferred.succeed(end, answered(0)))
    yield* TestClock.adjust("10 millis")
    const [row] = queue.rows
    return {
      queue,
      row,
      sent,
      fiber,
      intake: yield* Deferred.await(heard),
      rouse: Effect.zipRight(Queue.offer(wake, undefined), TestClock.adjust("10 millis"))
    }
  })

const at = (sent: ReadonlyArray<Sent>) => sent.map((attempt) => attempt.at)
const adjusted = (millis: number) => TestClock.adjust(Duration.millis(millis))

describe("DeliveryLoop", () => {
  it.scoped("attempts after exactly 5 s, 25 s, 2 min, 10 min and 50 min, then gives up", () =>
    Effect.gen(function* () {
      const { row, sent } = yield* start(() => Effect.succeed(answered(500)))
      const moments = [0]
      for (const wait of [5_000, 25_000, 120_000, 600_000, 3_000_000]) {
        const next = (moments.at(-1) ?? 0) + wait
        const now = yield* TestClock.currentTimeMillis
        yield* adjusted(next - 1 - now)
        deepStrictEqual(at(sent), moments)
        yield* adjusted(1)
        moments.push(next)
        deepStrictEqual(at(sent), moments)
        yield* adjusted(50)
      }
      assert.deepInclude(row, { state: "exhausted", attemptCount: 6 })
      deepStrictEqual(row?.dueAt, Option.none())
      yield* TestClock.adjust("2 days")
      assert.strictEqual(sent.length, 6)
    })
  )

  it.scoped.each([0, 1, 2, 3, 4])("tries %i times more when retry_count says so", (retryCount) =>
    Effect.gen(function* () {
      const { row, sent } = yield* start(() => Effect.succeed(answered(0)), { retryCount })
      for (const wait of [5_000, 25_000, 120_000, 600_000, 3_000_000]) yield* adjusted(wait + 50)
      assert.strictEqual(sent.length, retryCount + 1)
      assert.deepInclude(row, { state: "exhausted", attemptCount: retryCount + 1 })
    })
  )

  it.scoped.each([429, 503])("waits as long as a %i asks", (code) =>
    Effect.gen(function* () {
      const { sent } = yield* start((nth) => Effect.succeed(nth === 1 ? answered(code, "60") : answered(200)))
      yield* adjusted(60_000 - 11)
      deepStrictEqual(at(sent), [0])
      yield* adjusted(1)
      deepStrictEqual(at(sent), [0, 60_000])
    })
  )

  it.scoped("waits no shorter than the table, whatever Retry-After says", () =>
    Effect.gen(function* () {
      const { sent } = yield* start((nth) => Effect.succeed(nth === 1 ? answered(503, "1") : answered(200)))
      yield* adjusted(5_000)
      deepStrictEqual(at(sent), [0, 5_000])
    })
  )

  it.scoped("stops at the first 2xx", () =>
    Effect.gen(function* () {
      const { row, sent } = yield* start((nth) => Effect.succeed(answered(nth === 1 ? 500 : 204)))
      yield* TestClock.adjust("2 hours")
      deepStrictEqual(at(sent).length, 2)
      assert.deepInclude(row, { state: "succeeded", attemptCount: 2 })
      deepStrictEqual(row?.dueAt, Option.none())
    })
  )

  it.scoped("sends a retry on time while another delivery still waits for its answer", () =>
    Effect.gen(function* () {
      const { sent } = yield* start(
        (nth, hanging) => (nth === 1 ? hanging : Effect.succeed(answered(nth === 2 ? 500 : 200))),
        { rows: 2 }
      )
      yield* adjusted(5_000)
      deepStrictEqual(at(sent), [0, 0, 5_000])
    })
  )

  it.scoped("gives each attempt an id of its own, and all of them one event id", () =>
    Effect.gen(function* () {
      const { sent } = yield* start((nth) => Effect.succeed(answered(nth < 3 ? 500 : 200)))
      yield* adjusted(5_000)
      yield* adjusted(25_000)
      const ids = sent.map(({ request: { headers } }) => headers["X-Webhook-Delivery-Id"])
      assert.strictEqual(new Set(ids).size, 3)
      for (const header of ["X-Webhook-Event-Id", "webhook-id"]) {
        assert.strictEqual(new Set(sent.map(({ request: { headers } }) => headers[header])).size, 1)
      }
    })
  )

  it.scoped("has at most 32 attempts under way, and takes a bounded number of rows", () =>
    Effect.gen(function* () {
      const { queue, sent } = yield* start((_, hanging) => hanging, { rows: 2_000 })
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(sent.length, 32)
      assert.isAtMost(queue.rows.filter(({ state }) => state === "delivering").length, 512)
    })
  )

  it.scoped("410 disables the endpoint, cancels what waits, and tells the operator", () => {
    const said: Array<string> = []
    const logger = Logger.make<unknown, void>(({ annotations, logLevel, message }) => {
      const told = ["webhook", "reason"].map((key) => Option.getOrNull(HashMap.get(annotations, key)))
      if (logLevel.label === "WARN") said.push([message, ...told].join(", "))
    })
    return Effect.gen(function* () {
      const { queue, row, sent } = yield* start(
        (nth, hanging) => (nth === 1 ? Effect.succeed(answered(410)) : hanging),
        { rows: 100 }
      )
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(row?.state, "exhausted")
      assert.isTrue(queue.rows.slice(1).every(({ state }) => state === "canceled"))
      const { disabledReason, isActive } = Option.getOrThrow(queue.endpoint.current)
      assert.isFalse(isActive)
      deepStrictEqual(disabledReason, Option.some("the target answered 410 Gone"))
      assert.isAtMost(sent.length, 32)
      deepStrictEqual(said, [`a webhook was disabled, ${endpointId}, the target answered 410 Gone`])
    }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
  })

  it.scoped("three days without one success disable the endpoint", () =>
    Effect.gen(function* () {
      const { queue, rouse } = yield* start(() => Effect.succeed(answered(500)), { retryCount: 0 })
      const isActive = () => Option.getOrThrow(queue.endpoint.current).isActive
      yield* TestClock.adjust("71 hours")
      queue.add(1)
      yield* rouse
      assert.isTrue(isActive())
      yield* TestClock.adjust("1 hour")
      queue.add(1)
      yield* rouse
      assert.isFalse(isActive())
    })
  )

  it.scoped("one success in between keeps it", () =>
    Effect.gen(function* () {
      const { queue, rouse } = yield* start((nth) => Effect.succeed(answered(nth === 2 ? 200 : 500)), { retryCount: 0 })
      for (let day = 0; day < 4; day++) {
        yield* TestClock.adjust("40 hours")
        queue.add(1)
        yield* rouse
        if (day === 1) assert.strictEqual(queue.attempts.length, 3)
      }
      assert.isFalse(Option.getOrThrow(queue.endpoint.current).isActive)
      assert.strictEqual(queue.attempts.length, 5)
    })
  )

  it.scoped("sends again what a crash left under way", () =>
    Effect.gen(function* () {
      const { row, sent } = yield* start(() => Effect.succeed(answered(200)), { row: { state: "delivering" } })
      assert.strictEqual(sent.length, 1)
      assert.strictEqual(row?.state, "succeeded")
    })
  )

  it.scoped("writes a success again that could not be written", () =>
    Effect.gen(function* () {
      const { intake, queue, rouse, sent } = yield* start(() => Effect.succeed(answered(200)))
      const handed = queue.add(3)
      queue.breakDown(1)
      intake.reserve(handed)
      intake.take(handed)
      yield* adjusted(100)
      yield* rouse
      deepStrictEqual(new Set(queue.rows.map(({ state }) => state)), new Set(["succeeded"]))
      deepStrictEqual([sent.length, queue.attempts.length], [4, 4])
    })
  )

  it.scoped("an interrupted loop finishes what is under way and gives back the rest", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { fiber, queue, sent } = yield* start(() => Effect.as(Deferred.await(gate), answered(200)), { rows: 100 })
      const stopping = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* adjusted(1_000)
      assert.isTrue(Option.isNone(yield* Fiber.poll(stopping)))
      yield* Deferred.succeed(gate, undefined)
      yield* adjusted(50)
      yield* Fiber.join(stopping)
      const states = queue.rows.map(({ state }) => state)
      assert.strictEqual(sent.length, 32)
      assert.strictEqual(states.filter((state) => state === "succeeded").length, 32)
      assert.strictEqual(states.filter((state) => state === "pending").length, 68)
    })
  )

  it.scoped("uses the endpoint as it is at the time of the attempt", () =>
    Effect.gen(function* () {
      const { queue, rouse, sent } = yield* start((nth) => Effect.succeed(answered(nth === 1 ? 500 : 200)))
      yield* queue.change({ url: "http://elsewhere.example/" })
      yield* rouse
      yield* adjusted(5_000)
      deepStrictEqual(
        sent.map(({ request: { url } }) => url),
        ["http://target.example/", "http://elsewhere.example/"]
      )
    })
  )

  it.scoped.each(["disabled", "removed"])("cancels when the endpoint is %s", (how) =>
    Effect.gen(function* () {
      const { queue, rouse, row, sent } = yield* start(() => Effect.succeed(answered(500)))
      if (how === "removed") queue.endpoint.current = Option.none()
      else yield* queue.change({ isActive: false })
      yield* rouse
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(sent.length, 1)
      assert.strictEqual(row?.state, "canceled")
    })
  )

  it.scoped("sends what is due while most lanes wait for answers", () =>
    Effect.gen(function* () {
      const { queue, rouse, sent } = yield* start((_, hanging) => hanging, { rows: 19 })
      queue.add(5)
      yield* rouse
      assert.strictEqual(sent.length, 24)
    })
  )

  it.scoped("sends what it is handed over without reading it", () =>
    Effect.gen(function* () {
      const { intake, queue, row, sent } = yield* start(() => Effect.succeed(answered(200)))
      const reads = queue.reads()
      const handed = queue.add(3)
      assert.isTrue(intake.reserve(handed))
      yield* adjusted(1_000)
      assert.strictEqual(sent.length, 1)
      assert.isTrue(intake.take(handed))
      yield* adjusted(50)
      assert.strictEqual(sent.length, 4)
      assert.strictEqual(queue.reads(), reads)
      assert.isTrue(queue.rows.every(({ state }) => state === "succeeded"))
      assert.strictEqual(row?.state, "succeeded")
    })
  )

  it.scoped("reads no row that it has reserved, and each that was withdrawn", () =>
    Effect.gen(function* () {
      const { intake, queue, rouse, sent } = yield* start(() => Effect.succeed(answered(200)))
      const handed = queue.add(3)
      assert.isTrue(intake.reserve(handed))
      yield* rouse
      assert.strictEqual(sent.length, 1)
      intake.withdraw(handed)
      assert.isFalse(intake.take(handed))
      yield* rouse
      assert.strictEqual(sent.length, 4)
    })
  )

  it.scoped("takes nothing over that another loop had reserved", () =>
    Effect.gen(function* () {
      const { intake, queue, sent } = yield* start(() => Effect.succeed(answered(200)))
      assert.isFalse(intake.take(queue.add(1)))
      yield* adjusted(50)
      assert.strictEqual(sent.length, 1)
    })
  )

  it.scoped("reserves no more than it has room for, and nothing while older rows wait to be read", () =>
    Effect.gen(function* () {
      const { intake, queue, rouse } = yield* start((_, hanging) => hanging, { rows: 40 })
      assert.isFalse(intake.reserve(queue.add(1)))
      yield* rouse
      assert.isFalse(intake.reserve(queue.add(1)))
    })
  )

  it.scoped("keeps more for a fast receiver than it reads, until something older waits to be read", () =>
    Effect.gen(function* () {
      const { intake, queue, rouse, sent } = yield* start(
        (nth, hanging) => (nth > 3_000 ? hanging : Effect.succeed(answered(200))),
        { rows: 3_000 }
      )
      yield* adjusted(500)
      const handed = queue.add(2_500)
      assert.isTrue(intake.reserve(handed))
      assert.isTrue(intake.take(handed))
      assert.strictEqual(sent.length, 3_032)
      yield* rouse
      assert.isTrue(intake.reserve(queue.add(1)))
      const older = queue.add(1)
      yield* rouse
      assert.isFalse(intake.reserve(older))
    })
  )

  it.scoped("reserves nothing for an endpoint that is not active", () =>
    Effect.gen(function* () {
      const { intake, queue, rouse } = yield* start(() => Effect.succeed(answered(200)))
      yield* queue.change({ isActive: false })
      yield* rouse
      assert.isFalse(intake.reserve(queue.add(1)))
    })
  )

  it.scoped("reads nothing while nothing is due", () =>
    Effect.gen(function* () {
      const { queue } = yield* start(() => Effect.succeed(answered(200)))
      const before = queue.reads()
      yield* TestClock.adjust("1 day")
      assert.strictEqual(queue.reads(), before)
    })
  )
})
