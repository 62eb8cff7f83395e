import { NotificationTypeV2, Subtype } from "@apple/app-store-server-library"
import { describe, expect, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array, DateTime, Either, Option } from "effect"
import type { PurchaseFact } from "../../src/store/domain/PurchaseFact.ts"
import { factOf } from "../../src/store/store-a/Facts.ts"
import { subscriptionFact } from "../../src/store/store-b/Facts.ts"
import { readPush } from "../../src/store/store-b/Push.ts"
import { replay } from "../../src/subscription/domain/Lifecycle.ts"
import { isOneTime, oneTimeChanges } from "../../src/subscription/domain/OneTime.ts"

const start = DateTime.unsafeMake("2026-01-01T00:00:00Z")
const day = (days: number) => DateTime.add(start, { days })

interface Said {
  readonly status?: number
  readonly renews?: boolean
  readonly product?: string
  readonly next?: string
  /** The nth period; the one before it was told before. */
  readonly period?: number
  readonly isPurchase?: boolean
  readonly isTaken?: boolean
  readonly isFamily?: boolean
  readonly isOnce?: boolean
  readonly before?: readonly [type: string, said: Said]
}

const failing = { status: 3 } as const
const off = { renews: false } as const
const gone = { status: 2, renews: false } as const

/** Every type and subtype that the store publishes, with what its payload typically says. */
const storeA: { readonly [type: string]: Said } = {
  "SUBSCRIBED/INITIAL_BUY": { isPurchase: true },
  "SUBSCRIBED/RESUBSCRIBE": { period: 2, isPurchase: true, before: ["EXPIRED/VOLUNTARY", gone] },
  DID_RENEW: { period: 1 },
  "DID_RENEW/BILLING_RECOVERY": { period: 1, before: ["DID_FAIL_TO_RENEW", failing] },
  DID_FAIL_TO_RENEW: failing,
  "DID_FAIL_TO_RENEW/GRACE_PERIOD": { status: 4 },
  GRACE_PERIOD_EXPIRED: { ...failing, before: ["DID_FAIL_TO_RENEW/GRACE_PERIOD", { status: 4 }] },
  EXPIRED: gone,
  "EXPIRED/VOLUNTARY": { ...gone, before: ["DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", off] },
  "EXPIRED/BILLING_RETRY": { ...gone, before: ["DID_FAIL_TO_RENEW", failing] },
  "EXPIRED/PRICE_INCREASE": gone,
  "EXPIRED/PRODUCT_NOT_FOR_SALE": gone,
  DID_CHANGE_RENEWAL_STATUS: off,
  "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED": off,
  "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED": {
    before: ["DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", off]
  },
  DID_CHANGE_RENEWAL_PREF: { before: ["DID_CHANGE_RENEWAL_PREF/DOWNGRADE", { next: "basic" }] },
  "DID_CHANGE_RENEWAL_PREF/UPGRADE": { period: 1, product: "max" },
  "DID_CHANGE_RENEWAL_PREF/DOWNGRADE": { next: "basic" },
  OFFER_REDEEMED: {},
  "OFFER_REDEEMED/UPGRADE": { period: 1, product: "max" },
  "OFFER_REDEEMED/DOWNGRADE": { next: "basic" },
  "PRICE_INCREASE/PENDING": {},
  "PRICE_INCREASE/ACCEPTED": {},
  REFUND: { status: 5, isTaken: true },
  REFUND_REVERSED: { before: ["REFUND", { status: 5, isTaken: true }] },
  REFUND_DECLINED: {},
  REVOKE: { status: 5, isTaken: true, isFamily: true },
  CONSUMPTION_REQUEST: {},
  RENEWAL_EXTENDED: {},
  "RENEWAL_EXTENSION/SUMMARY": {},
  "RENEWAL_EXTENSION/FAILURE": {},
  ONE_TIME_CHARGE: { isOnce: true },
  "EXTERNAL_PURCHASE_TOKEN/CREATED": {},
  "EXTERNAL_PURCHASE_TOKEN/ACTIVE_TOKEN_REMINDER": {},
  "EXTERNAL_PURCHASE_TOKEN/UNREPORTED": {},
  METADATA_UPDATE: {},
  MIGRATION: {},
  PRICE_CHANGE: {},
  RESCIND_CONSENT: {},
  TEST: {}
}

const factA = (name: string, said: Said, at: number): Option.Option<PurchaseFact> => {
  const [type = "", subtype] = name.split("/")
  const { isFamily, isOnce, isTaken, period = 0, product = "pro" } = said
  const common = { bundleId: "b", environment: "Production" as const, signedDate: day(at) }
  const reason = said.isPurchase === true || period === 0 ? "PURCHASE" : "RENEWAL"
  const transaction = {
    ...{ ...common, originalTransactionId: "1", transactionId: period === 0 ? "1" : `1-${period}`, productId: product },
    ...{ type: isOnce === true ? "Consumable" : "Auto-Renewable Subscription", transactionReason: reason },
    ...{ purchaseDate: day(period * 30), originalPurchaseDate: start, expiresDate: day(period * 30 + 30) },
    ...(isFamily === true ? { inAppOwnershipType: "FAMILY_SHARED" } : {}),
    ...(isTaken === true ? { revocationDate: day(at) } : {})
  }
  const status = isOnce === true ? {} : { status: said.status ?? 1 }
  return factOf(
    {
      ...{ notificationType: type, subtype, notificationUUID: `${name}@${at}`, signedDate: day(at) },
      data: { ...common, ...status }
    },
    transaction,
    Option.some({
      ...{ originalTransactionId: "1", environment: "Production", autoRenewStatus: said.renews === false ? 0 : 1 },
      autoRenewProductId: said.next ?? product
    })
  )
}

/** Every number that the store publishes, with the state that reading the purchase back then typically shows. */
const storeB: { readonly [code: number]: string } = {
  1: "ACTIVE",
  2: "ACTIVE",
  3: "CANCELED",
  4: "ACTIVE",
  5: "ON_HOLD",
  6: "IN_GRACE_PERIOD",
  7: "ACTIVE",
  8: "ACTIVE",
  9: "ACTIVE",
  10: "PAUSED",
  11: "ACTIVE",
  12: "EXPIRED",
  13: "EXPIRED",
  17: "ACTIVE",
  18: "ACTIVE",
  19: "ACTIVE",
  20: "PENDING_PURCHASE_CANCELED",
  22: "ACTIVE"
}
const beforeB: { readonly [code: number]: number } = { 1: 5, 7: 3 }

const told = (content: object) =>
  Either.getOrThrow(
    readPush({
      messageId: "m",
      data: Buffer.from(JSON.stringify({ packageName: "p", eventTimeMillis: "1", ...content })).toString("base64"),
      packageName: Option.some("p")
    })
  )

const about = (notificationType: number) => ({ version: "1.0", notificationType, purchaseToken: "t" })

const factB = (code: number, at: number): Option.Option<PurchaseFact> => {
  const { subject } = told({ subscriptionNotification: about(code) })
  const nth = code === 1 || code === 2 ? "..0" : ""
  const isUnpaid = code === 20
  return subscriptionFact(
    {
      subscriptionState: `SUBSCRIPTION_STATE_${storeB[code]}`,
      ...(isUnpaid ? {} : { startTime: start }),
      lineItems: [
        {
          ...{ productId: "pro", expiryTime: day(nth === "" ? 30 : 60) },
          ...(isUnpaid ? {} : { latestSuccessfulOrderId: `GPA.1${nth}` }),
          autoRenewingPlan: { autoRenewEnabled: ![3, 12, 13].includes(code) }
        }
      ]
    },
    {
      ...{ factId: `${code}@${at}`, kind: Option.getOrThrow(subject).kind, readAt: day(at), purchaseToken: "t" },
      ...{ origin: Option.none(), voidedAt: () => Option.none() }
    }
  )
}

const effectOf = (facts: ReadonlyArray<PurchaseFact>): string => {
  const last = facts.at(-1)
  if (last === undefined || !Array.isNonEmptyReadonlyArray(facts)) return "—"
  const { changes, subscription } = replay(facts)
  const types = isOneTime(last) ? oneTimeChanges(last) : changes.filter(({ fact }) => fact === last)
  const events = types.map(({ type }) => `\`${type}\``).join(", ")
  return `${events === "" ? "no event" : events} | ${isOneTime(last) ? "ledger only" : `\`${subscription.status}\``}`
}

const row = (
  store: string,
  type: string,
  before: ReadonlyArray<Option.Option<PurchaseFact>>,
  fact: Option.Option<PurchaseFact>
) =>
  Option.match(fact, {
    onNone: () => `| ${store} | \`${type}\` | none | kept, acknowledged, changes nothing | as before |`,
    onSome: (last) =>
      `| ${store} | \`${type}\` | \`${last.kind}\` | ${effectOf([...before.flatMap(Option.toArray), last])} |`
  })

const boughtA = factA("SUBSCRIBED/INITIAL_BUY", { isPurchase: true }, 0)

const rows = [
  ...Object.entries(storeA).map(([name, said]) => {
    const earlier = said.before === undefined ? [] : [factA(said.before[0], said.before[1], 20)]
    const isFirst = name === "SUBSCRIBED/INITIAL_BUY" || said.isOnce === true
    return row("store_a", name, isFirst ? [] : [boughtA, ...earlier], factA(name, said, 25))
  }),
  ...Object.keys(storeB).map((code) => {
    const number = Number(code)
    const { type } = told({ subscriptionNotification: about(number) })
    const earlier = beforeB[number] === undefined ? [] : [factB(beforeB[number], 20)]
    const before = number === 4 || number === 20 ? [] : [factB(4, 0), ...earlier]
    return row("store_b", `${code} ${type}`, before, factB(number, 25))
  }),
  ...[1, 2].map((code) => {
    const { subject, type } = told({ oneTimeProductNotification: about(code) })
    const effect = code === 1 ? "`purchase.completed` | ledger only" : "nothing was paid | as before"
    return `| store_b | \`${code} ${type}\` | \`${Option.getOrThrow(subject).kind}\` | ${effect} |`
  }),
  "| store_b | `VOIDED_PURCHASE` | `refunded` | `subscription.refunded` or `purchase.refunded`, once the store's list names the order | `revoked` |",
  ...["PENDING_REFUND_REVIEW", "TEST"].map((type) => row("store_b", type, [], Option.none()))
]

const document = `# What each notification does

Made by \`npm run notification-table\` out of the code itself: each type that the stores publish, read by its driver and
folded after a first purchase (and, where the type needs it, the state that it ends).

| store | type | neutral fact | events | status after |
| --- | --- | --- | --- | --- |
${rows.join("\n")}

Store B says only that something changed; what is shown is what reading the purchase back then says. Types that nobody knows
yet are kept and acknowledged; of store B they are read back too.
`

describe("the table of notifications", () => {
  it("has every type and subtype that store A publishes", () => {
    const words = Object.keys(storeA).flatMap((name) => name.split("/"))
    const published = [...Object.values(NotificationTypeV2), ...Object.values(Subtype)]
    deepStrictEqual(
      published.filter((word) => !words.includes(word)),
      []
    )
  })

  it("has a name for every number that store B publishes", () => {
    for (const code of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 17, 18, 19, 20, 22]) {
      const { type } = told({ subscriptionNotification: about(code) })
      deepStrictEqual([/_\d+$/.test(type), storeB[code] === undefined], [false, false], type)
    }
  })

  it("is what the documentation shows", () =>
    expect(document).toMatchFileSnapshot("../../src/subscription/Notifications.md"))
})
