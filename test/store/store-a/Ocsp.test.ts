import { HttpClient, HttpClientError, HttpClientResponse } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { assertNone, assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Deferred, Effect, Fiber, Layer, Option, TestClock } from "effect"
import { respond, type Status } from "../../../src/simulator/store-a/OcspResponder.ts"
import { makeAuthority } from "../../../src/simulator/store-a/SigningAuthority.ts"
import { decide, layer, Revocation, type Strictness } from "../../../src/store/store-a/Ocsp.ts"
import { Verdict } from "../../../src/store/store-a/OcspAnswer.ts"
import { hour, makeSide } from "../../support/OcspSide.ts"

const begin = Math.floor(Date.now() / 1000) * 1000
const ocspUrl = "http://ocsp.example.com/a"

/** A chain, its responder as scripted, and what was asked of it. */
const setting = Effect.fn(function* (strictness: Strictness, named: string | null = ocspUrl) {
  yield* TestClock.setTime(begin)
  const authority = yield* makeAuthority(named === null ? {} : { ocspUrl: named })
  const { chain } = yield* makeSide(authority)
  const asked: Array<string> = []
  const state: { status: Status; other: Option.Option<() => Response>; before: Effect.Effect<void>; down: boolean } = {
    ...{ status: "good", other: Option.none(), before: Effect.void, down: false }
  }
  const client = HttpClient.make((request) =>
    Effect.gen(function* () {
      asked.push(request.url)
      yield* state.before
      if (state.down) {
        return yield* new HttpClientError.RequestError({ request, reason: "Transport", description: "down" })
      }
      const question = request.body._tag === "Uint8Array" ? request.body.body : new Uint8Array()
      const thisUpdate = (yield* TestClock.testClock()).unsafeCurrentTimeMillis()
      const answer = yield* respond(authority.issuers, question, {
        statusOf: () => state.status,
        thisUpdate,
        nextUpdate: thisUpdate + hour
      })
      const response = Option.match(state.other, { onNone: () => new Response(answer), onSome: (make) => make() })
      return HttpClientResponse.fromWeb(request, response)
    })
  )
  const context = yield* Layer.build(
    layer(strictness).pipe(Layer.provide(Layer.succeed(HttpClient.HttpClient, client)))
  )
  const { check } = yield* Effect.provide(Revocation, context)
  const outcome = Effect.match(check(chain), {
    onFailure: (error) => `${error._tag}: ${error.detail}`,
    onSuccess: () => "passes"
  })
  return { asked, outcome, state }
})

const revoked = "NotificationRefused: a certificate is revoked"
const unclear = (detail: string) => `StoreDown: a certificate could not be checked for revocation: ${detail}`

describe("certificates of store A", () => {
  it.scoped("leaf and intermediate are asked about, once until the next update", () =>
    Effect.gen(function* () {
      const { asked, outcome, state } = yield* setting("hard")
      deepStrictEqual(yield* Effect.all([outcome, outcome, outcome], { concurrency: 3 }), [
        "passes",
        "passes",
        "passes"
      ])
      deepStrictEqual(asked, [ocspUrl, ocspUrl])
      state.status = "revoked"
      yield* TestClock.adjust("59 minutes")
      strictEqual(yield* outcome, "passes")
      strictEqual(asked.length, 2)
      yield* TestClock.adjust("1 minute")
      strictEqual(yield* outcome, revoked)
      strictEqual(asked.length, 4)
      strictEqual(yield* outcome, revoked)
      strictEqual(asked.length, 4)
    })
  )

  it.scoped("a failure is remembered for five minutes", () =>
    Effect.gen(function* () {
      const { asked, outcome, state } = yield* setting("hard")
      state.down = true
      strictEqual(yield* outcome, unclear("the responder cannot be reached"))
      state.down = false
      yield* TestClock.adjust("299 seconds")
      strictEqual(yield* outcome, unclear("the responder cannot be reached"))
      strictEqual(asked.length, 2)
      yield* TestClock.adjust("1 second")
      strictEqual(yield* outcome, "passes")
    })
  )

  const wrongs: ReadonlyArray<readonly [string, () => Response]> = [
    ["the responder answers 302", () => new Response(null, { status: 302, headers: { location: "http://10.0.0.1/" } })],
    ["the responder answers 500", () => new Response("", { status: 500 })],
    ["the answer is too long", () => new Response(new Uint8Array(64 * 1024 + 1))],
    ["the answer does not parse", () => new Response("<html>")],
    ["the answer does not parse", () => new Response(new Uint8Array(64 * 1024))]
  ]
  for (const [index, [detail, make]] of wrongs.entries()) {
    it.scoped(`(${index}) ${detail}: soft lets pass, hard does not`, () =>
      Effect.gen(function* () {
        for (const [strictness, expected] of [
          ["soft", "passes"],
          ["hard", unclear(detail)]
        ] as const) {
          const { outcome, state } = yield* setting(strictness)
          state.other = Option.some(make)
          strictEqual(yield* outcome, expected)
        }
      })
    )
  }

  it.scoped("a responder that hangs is given up after three seconds, for all who wait", () =>
    Effect.gen(function* () {
      const { asked, outcome, state } = yield* setting("hard")
      state.before = Effect.never
      const waiting = yield* Effect.fork(Effect.all([outcome, outcome], { concurrency: 2 }))
      yield* TestClock.adjust("2999 millis")
      assertNone(yield* Fiber.poll(waiting))
      yield* TestClock.adjust("1 millis")
      const late = unclear("the responder does not answer in time")
      deepStrictEqual(yield* Fiber.join(waiting), [late, late])
      strictEqual(asked.length, 2)
    })
  )

  it.scoped("who goes away takes the answer from nobody", () =>
    Effect.gen(function* () {
      const { asked, outcome, state } = yield* setting("hard")
      const gate = yield* Deferred.make<void>()
      state.before = Deferred.await(gate)
      const first = yield* Effect.fork(outcome)
      yield* Effect.yieldNow()
      const second = yield* Effect.fork(outcome)
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(first)
      yield* Deferred.succeed(gate, undefined)
      strictEqual(yield* Fiber.join(second), "passes")
      strictEqual(asked.length, 2)
    })
  )

  it.scoped("without a named responder soft lets pass, hard refuses, and nobody is asked", () =>
    Effect.gen(function* () {
      for (const named of [null, "ldap://ocsp.example.com/"]) {
        const soft = yield* setting("soft", named)
        strictEqual(yield* soft.outcome, "passes")
        const hard = yield* setting("hard", named)
        strictEqual(yield* hard.outcome, "NotificationRefused: a certificate names no OCSP responder")
        deepStrictEqual([...soft.asked, ...hard.asked], [])
      }
    })
  )
})

describe("what verdicts come to", () => {
  const verdicts = [
    Verdict.Good({ until: 1 }),
    Verdict.Revoked({ until: 1 }),
    Verdict.Unclear({ detail: "d" }),
    Verdict.Unasked()
  ]
  for (const one of verdicts) {
    for (const other of verdicts) {
      it(`${one._tag} and ${other._tag}`, () => {
        const tags = [one._tag, other._tag]
        const soft = decide("soft", [one, other])
        const hard = decide("hard", [one, other])
        strictEqual(Option.isSome(soft), tags.includes("Revoked"))
        strictEqual(Option.isNone(hard), one._tag === "Good" && other._tag === "Good")
        const isForGood = tags.includes("Revoked") || tags.includes("Unasked")
        assertTrue(Option.isNone(hard) || (hard.value._tag === "NotificationRefused") === isForGood)
      })
    }
  }
})
