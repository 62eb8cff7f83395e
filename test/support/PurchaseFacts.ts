import { DateTime, FastCheck, Option } from "effect"
import {
  type FactKind,
  PurchaseFact,
  type PurchaseReason,
  RenewalIntent,
  StoreTransaction
} from "../../src/store/domain/PurchaseFact.ts"

const day = 86_400_000
const epoch = Date.UTC(2026, 0, 1)

const at = (days: number) => DateTime.unsafeMake(epoch + days * day)

interface Step {
  readonly kind: FactKind
  readonly period: number
  readonly status: PurchaseFact["status"]
  readonly willRenew: boolean
  readonly reason?: PurchaseReason
}

/** A fact about the nth 30-day period of one chain; the first may be a trial. */
export const factOf = (index: number, step: Step, options: { readonly trial: boolean }): PurchaseFact =>
  PurchaseFact.make({
    factId: `fact-${index}`,
    store: "store_a",
    environment: "production",
    kind: step.kind,
    signedAt: at(index * 3),
    originalTransactionId: "1000",
    accountToken: Option.none(),
    status: step.status,
    transaction: StoreTransaction.make({
      transactionId: String(1000 + step.period),
      productIdentifier: "pro.monthly",
      productType: "subscription",
      purchaseDate: at(step.period * 30),
      originalPurchaseDate: at(0),
      expiresDate: Option.some(at(step.period * 30 + 30)),
      periodType: options.trial && step.period === 0 ? "trial" : "normal",
      ownershipType: "purchased",
      priceMicros: Option.some(options.trial && step.period === 0 ? 0 : 9_990_000),
      currency: Option.some("USD"),
      refundedAt: step.kind === "refunded" ? Option.some(at(index * 3)) : Option.none(),
      isUpgraded: false,
      reason: Option.some(step.reason ?? (step.period === 0 ? "purchase" : "renewal"))
    }),
    renewal: Option.some(
      RenewalIntent.make({
        willRenew: step.willRenew,
        nextProductIdentifier: Option.some("pro.monthly"),
        gracePeriodExpiresDate: step.status === "in_grace_period" ? Option.some(at(index * 3 + 16)) : Option.none()
      })
    )
  })

const moves = ["renew", "disable", "enable", "fail", "grace", "expire", "refund"] as const

/** Histories as a store would sign them, oldest first. */
export const history: FastCheck.Arbitrary<readonly [PurchaseFact, ...Array<PurchaseFact>]> = FastCheck.tuple(
  FastCheck.boolean(),
  FastCheck.array(FastCheck.constantFrom(...moves), { maxLength: 30 })
).map(([trial, chosen]) => {
  let period = 0
  let willRenew = true
  let status: PurchaseFact["status"] = "active"
  const first = factOf(0, { kind: "purchased", period, status, willRenew }, { trial })
  const rest = chosen.map((move, index) => {
    let kind: FactKind = "observed"
    if (move === "renew") {
      period += 1
      kind = status === "active" ? "renewed" : "recovered"
      status = "active"
      willRenew = true
    } else if (move === "disable") {
      kind = "renewal_disabled"
      willRenew = false
    } else if (move === "enable") {
      kind = "renewal_enabled"
      willRenew = true
    } else if (move === "fail" || move === "grace") {
      kind = "renewal_failed"
      status = move === "fail" ? "in_billing_retry" : "in_grace_period"
    } else if (move === "expire") {
      kind = "expired"
      status = "expired"
    } else {
      kind = "refunded"
      status = "revoked"
    }
    return factOf(index + 1, { kind, period, status, willRenew }, { trial })
  })
  return [first, ...rest] as const
})

/** The nth period of a chain of its own, as the store tells it of the customer that its account token names. */
export const chainFact = (chain: string, period: number, accountToken: string): PurchaseFact => {
  const step = { kind: period === 0 ? "purchased" : "renewed", period, status: "active", willRenew: true } as const
  const fact = factOf(period, step, { trial: false })
  const transaction = StoreTransaction.make({
    ...fact.transaction,
    transactionId: `${chain}-${fact.transaction.transactionId}`
  })
  return PurchaseFact.make({
    ...fact,
    factId: `${chain}-${fact.factId}`,
    originalTransactionId: `${chain}-${fact.originalTransactionId}`,
    accountToken: Option.some(accountToken),
    transaction
  })
}
