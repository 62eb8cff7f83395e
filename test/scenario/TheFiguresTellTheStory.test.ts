import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { layer } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Context, Effect, Layer, Schema } from "effect"
import { makeAuthority, type SigningAuthority } from "../../src/simulator/store-a/SigningAuthority.ts"
import { renewalPayload, transactionPayload } from "../../src/simulator/store-a/Payloads.ts"
import { bought } from "../../src/simulator/store-a/Period.ts"
import type { Purchase } from "../../src/simulator/store-a/Purchase.ts"
import { NewPurchase } from "../../src/simulator/store-a/Terms.ts"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { makeApp } from "../support/Story.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

class World extends Context.Tag("test/World")<
  World,
  { readonly url: string; readonly authority: SigningAuthority }
>() {}

const world = Layer.scoped(
  World,
  Effect.gen(function* () {
    const authority = yield* makeAuthority()
    const root = join(mkdtempSync(join(tmpdir(), "gatehouse-root-")), "root.pem")
    writeFileSync(root, authority.rootPem)
    const databaseUrl = yield* TestDatabase.url
    const { url } = yield* Gatehouse.serve({ DATABASE_URL: databaseUrl, STORE_A_ROOT_CERTIFICATES: root })
    return { url, authority }
  })
).pipe(Layer.orDie)

const aDay = 86_400_000
const midnight = Math.floor(Date.now() / aDay) * aDay

/** Noon of the nth day before today, or the day itself as the API writes it. */
const noon = (offset: number) => midnight + (offset + 0.5) * aDay
const date = (offset: number) => new Date(midnight + offset * aDay).toISOString().slice(0, 10)

interface Word {
  readonly type: string
  readonly at: number
  readonly from: number
  readonly days: number
  readonly status?: Purchase["status"]
  readonly isTrial?: boolean
  readonly graceUntil?: number
  readonly refundedAt?: number
  readonly refundedPercent?: number
}

interface Buyer {
  readonly name: string
  readonly product: string
  readonly price: number
  readonly currency: string
  readonly environment?: "Production" | "Sandbox"
  readonly words: ReadonlyArray<Word>
}

const usd = { product: "pro.monthly", price: 9990, currency: "USD" }
const trial = (from: number): Word => ({ type: "SUBSCRIBED", at: from, from, days: 7, isTrial: true })
const renewal = (from: number, days = 30): Word => ({ type: "DID_RENEW", at: from, from, days })

const story: ReadonlyArray<Buyer> = [
  { name: "ann", ...usd, words: [trial(-40), renewal(-33), renewal(-3)] },
  {
    name: "ben",
    product: "pro.weekly",
    price: 2490,
    currency: "EUR",
    words: [
      { type: "SUBSCRIBED", at: -26, from: -26, days: 7 },
      renewal(-19, 7),
      { type: "EXPIRED", at: -12, from: -19, days: 7, status: 2 },
      { type: "REFUND", at: -11, from: -19, days: 7, status: 2, refundedAt: -11, refundedPercent: 40 }
    ]
  },
  {
    name: "cem",
    ...usd,
    words: [trial(-10), { type: "EXPIRED", at: -3, from: -10, days: 7, status: 2, isTrial: true }]
  },
  {
    name: "dora",
    ...usd,
    words: [trial(-20), renewal(-13), { type: "REFUND", at: -12, from: -13, days: 30, status: 5, refundedAt: -12 }]
  },
  {
    name: "eve",
    product: "pro.yearly",
    price: 59_990,
    currency: "USD",
    words: [{ type: "SUBSCRIBED", at: -2, from: -2, days: 365 }]
  },
  {
    name: "finn",
    ...usd,
    price: 100_000,
    environment: "Sandbox",
    words: [{ type: "SUBSCRIBED", at: -1, from: -1, days: 30 }]
  },
  {
    name: "gus",
    ...usd,
    words: [
      { type: "SUBSCRIBED", at: -31, from: -31, days: 30 },
      { type: "DID_FAIL_TO_RENEW", at: -1, from: -31, days: 30, status: 4, graceUntil: 15 }
    ]
  },
  { name: "hal", ...usd, words: [trial(-2)] },
  { name: "ivy", ...usd, words: [trial(-25), renewal(-18)] }
]

/** What the store signs when it says a word about a buyer's purchase. */
const sign = Effect.fn(function* (buyer: Buyer, word: Word) {
  const { authority } = yield* World
  const environment = buyer.environment ?? "Production"
  const { terms } = yield* Schema.decode(Schema.Struct({ terms: NewPurchase }))({
    terms: {
      bundle_id: "com.example.notes",
      product_id: buyer.product,
      app_account_token: buyer.name,
      price: buyer.price,
      currency: buyer.currency,
      trial: word.isTrial ?? false,
      environment
    }
  }).pipe(Effect.orDie)
  const { purchase: first } = bought(terms, buyer.name, { now: noon(buyer.words[0]?.from ?? 0), scale: null })
  const running = {
    ...first.transactions[0],
    transactionId: `${buyer.name}${word.from}`,
    purchaseDate: noon(word.from),
    expiresDate: noon(word.from + word.days),
    revocation:
      word.refundedAt === undefined
        ? undefined
        : {
            ...{ date: noon(word.refundedAt), reason: 0 as const, percentage: word.refundedPercent ?? 100 },
            type: word.refundedPercent === undefined ? ("REFUND_FULL" as const) : ("REFUND_PRORATED" as const)
          }
  }
  const purchase: Purchase = {
    ...first,
    transactions: [first.transactions[0], running],
    status: word.status ?? 1,
    gracePeriodExpiresDate: word.graceUntil === undefined ? undefined : noon(word.graceUntil)
  }
  return yield* authority.sign({
    notificationType: word.type,
    notificationUUID: `${buyer.name}/${word.type}/${word.at}`,
    version: "2.0",
    signedDate: noon(word.at),
    data: {
      environment,
      bundleId: "com.example.notes",
      signedTransactionInfo: yield* authority.sign(transactionPayload(purchase, noon(word.at))),
      signedRenewalInfo: yield* authority.sign(renewalPayload(purchase, noon(word.at))),
      status: purchase.status
    }
  })
})

/** A team's app that has heard the whole story, newest words first. */
const told = Effect.gen(function* () {
  const { url } = yield* World
  const app = yield* makeApp(url, "http://127.0.0.1:1/hook")
  for (const [identifier, subscription_period] of [
    ["pro.weekly", "P1W"],
    ["pro.yearly", "P1Y"]
  ]) {
    const body = { store: "store_a", identifier, name: identifier, type: "subscription", subscription_period }
    strictEqual((yield* call("POST", `${url}/api/v1/apps/${app.id}/products`, { token: app.token, body })).status, 201)
  }
  for (const buyer of story) {
    for (const word of [...buyer.words].reverse()) {
      const body = { signedPayload: yield* sign(buyer, word) }
      const heard = yield* call("POST", `${url}/api/v1/stores/store_a/notifications/${app.id}`, { body })
      strictEqual(heard.body.data?.status, "accepted", `${buyer.name} ${word.type}`)
    }
  }
  const stats = (query: string) => call("GET", `${url}/api/v1/apps/${app.id}/stats${query}`, { token: app.token })
  return { ...app, url, stats }
})

const days = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)

layer(world, { excludeTestServices: true })("the figures tell the story", (it) => {
  it.effect("of trials, renewals, a lapse, a refund, part of one, grace, two currencies and the sandbox", () =>
    Effect.gen(function* () {
      const { stats } = yield* told
      const { body, status } = yield* stats(`?from=${date(-27)}&to=${date(0)}`)
      strictEqual(status, 200)
      const revenueOn = new Map([
        [-26, { EUR: 2.49 }],
        [-19, { EUR: 1.494 }],
        [-18, { USD: 9.99 }],
        [-13, { USD: 0 }],
        [-3, { USD: 9.99 }],
        [-2, { USD: 59.99 }]
      ])
      const activeOn = (offset: number) =>
        2 +
        (offset >= -26 && offset <= -13 ? 1 : 0) +
        (offset >= -18 ? 1 : 0) +
        (offset === -13 ? 1 : 0) +
        (offset >= -2 ? 1 : 0)
      deepStrictEqual(body.data, {
        customers: 9,
        new_customers: 9,
        active_subscriptions: 4,
        active_trials: 1,
        in_grace_period: 1,
        in_billing_retry: 0,
        on_hold: 0,
        churned: 2,
        churn_rate: 100,
        trial_conversions: 1,
        trial_conversion_rate: 25,
        mrr: { USD: 34.969167 },
        revenue: { EUR: 3.984, USD: 79.97 },
        refunds: { EUR: 0.996, USD: 9.99 },
        by_product: [
          {
            store: "store_a",
            product_identifier: "pro.monthly",
            active_subscriptions: 3,
            active_trials: 1,
            mrr: { USD: 29.97 },
            revenue: { USD: 19.98 },
            refunds: { USD: 9.99 }
          },
          {
            store: "store_a",
            product_identifier: "pro.weekly",
            active_subscriptions: 0,
            active_trials: 0,
            mrr: {},
            revenue: { EUR: 3.984 },
            refunds: { EUR: 0.996 }
          },
          {
            store: "store_a",
            product_identifier: "pro.yearly",
            active_subscriptions: 1,
            active_trials: 0,
            mrr: { USD: 4.999167 },
            revenue: { USD: 59.99 },
            refunds: {}
          }
        ],
        series: {
          day: days(-27, 0).map(date),
          revenue: days(-27, 0).map((offset) => revenueOn.get(offset) ?? {}),
          active_subscriptions: days(-27, 0).map(activeOn)
        }
      })

      const past = yield* stats(`?from=${date(-40)}&to=${date(-30)}T23:59:59Z`)
      const { by_product, series, ...before } = past.body.data
      deepStrictEqual(before, {
        customers: 0,
        new_customers: 0,
        active_subscriptions: 2,
        active_trials: 0,
        in_grace_period: 1,
        in_billing_retry: 0,
        on_hold: 0,
        churned: 0,
        churn_rate: null,
        trial_conversions: 1,
        trial_conversion_rate: 100,
        mrr: { USD: 19.98 },
        revenue: { USD: 19.98 },
        refunds: {}
      })
      strictEqual(by_product.length, 1)
      deepStrictEqual(series.active_subscriptions, [0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2])

      const sandbox = (yield* stats(`?from=${date(-1)}&to=${date(0)}&environment=sandbox`)).body.data
      deepStrictEqual(
        [sandbox.active_subscriptions, sandbox.revenue, sandbox.mrr, sandbox.series.active_subscriptions],
        [1, { USD: 100 }, { USD: 100 }, [1, 1]]
      )
    })
  )

  it.effect("of four weeks unless it is asked otherwise, and refuses what is no range", () =>
    Effect.gen(function* () {
      const { id, key, stats, token, url } = yield* told
      const usual = (yield* stats("")).body.data.series.day
      strictEqual(usual.length, 28)
      const today: string = usual.at(-1)
      strictEqual(Math.abs(Date.parse(today) - midnight) <= aDay, true)
      deepStrictEqual((yield* stats(`?from=${today}`)).body.data.series.day, [today])
      deepStrictEqual((yield* stats(`?to=${date(-10)}`)).body.data.series.day, days(-37, -10).map(date))
      strictEqual((yield* stats(`?from=${date(-399)}&to=${date(0)}`)).body.data.series.day.length, 400)

      const refusals: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
        [`?from=${date(-400)}&to=${date(0)}`, ["to"]],
        [`?from=${date(-5)}&to=${date(-6)}`, ["from"]],
        [`?from=${date(2)}&to=${date(3)}`, ["from"]],
        ["?from=yesterday&to=2026-02-30&environment=staging", ["environment", "from", "to"]],
        ["?from=2026-01-01T25:00:00Z", ["from"]],
        ["?from=", ["from"]]
      ]
      for (const [query, fields] of refusals) {
        const answer = yield* stats(query)
        strictEqual(answer.status, 422, query)
        deepStrictEqual(Object.keys(answer.body.errors).sort(), fields)
      }

      const reader = (abilities: ReadonlyArray<string>) =>
        Effect.map(
          call("POST", `${url}/api/v1/auth/tokens`, { token, body: { name: "t", abilities } }),
          ({ body }): string => body.data.token
        )
      const other = yield* makeApp(url, "http://127.0.0.1:1/hook")
      const statuses = yield* Effect.forEach(
        [undefined, key, other.token, yield* reader(["apps:write"]), yield* reader(["customers:read"])],
        (one) => Effect.map(call("GET", `${url}/api/v1/apps/${id}/stats`, { token: one }), ({ status }) => status)
      )
      deepStrictEqual(statuses, [401, 401, 404, 403, 200])
      const empty = yield* call("GET", `${url}/api/v1/apps/${other.id}/stats`, { token: other.token })
      deepStrictEqual([empty.body.data.customers, empty.body.data.mrr, empty.body.data.by_product], [0, {}, []])
    })
  )
})
