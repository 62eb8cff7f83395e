import { DateTime, FastCheck, Option } from "effect"
import {
  type FactKind,
  PurchaseFact,
  RenewalIntent,
  type StoreStatus,
  StoreTransaction
} from "../../src/store/domain/PurchaseFact.ts"

const hour = 3_600_000
const day = 24 * hour
const epoch = Date.UTC(2026, 0, 1)
const length = 30 * day

const at = (moment: number) => DateTime.unsafeMake(moment)

export type Store = "store_a" | "store_b"

const products = ["pro.monthly", "basic.monthly", "max.monthly"] as const

const moves = [
  "renew",
  "renew",
  "renew",
  "disable",
  "enable",
  "fail",
  "failHard",
  "recover",
  "expire",
  "resubscribe",
  "refund",
  "refundEarlier",
  "reverse",
  "revoke",
  "upgrade",
  "downgrade",
  "planPause",
  "pause",
  "resume",
  "extend",
  "announcePrice",
  "observe"
] as const
type Move = (typeof moves)[number]

/** A purchase chain as its store sees it, and all that the store has said of it. */
class Chain {
  readonly facts: Array<PurchaseFact> = []
  private readonly periods: Array<StoreTransaction> = []
  private readonly name: string
  private readonly store: Store
  private now: number
  private status: StoreStatus = "active"
  private willRenew = true
  private next: string = products[0]

  constructor(nth: number, store: Store, isTrial: boolean) {
    this.store = store
    this.name = store === "store_a" ? `${2000 + nth}` : `GPA.${2000 + nth}`
    this.now = epoch + nth * hour
    this.begin("purchase", isTrial)
    this.say("purchased")
  }

  private get last(): StoreTransaction {
    return this.periods.at(-1) ?? this.period("purchase", false)
  }

  private period(reason: "purchase" | "renewal", isTrial: boolean): StoreTransaction {
    const nth = this.periods.length
    const suffix = this.store === "store_a" ? `-${nth}` : `..${nth - 1}`
    return StoreTransaction.make({
      transactionId: nth === 0 ? this.name : `${this.name}${suffix}`,
      productIdentifier: this.next,
      productType: "subscription",
      purchaseDate: at(this.now),
      originalPurchaseDate: this.periods[0]?.purchaseDate ?? at(this.now),
      expiresDate: Option.some(at(this.now + length)),
      periodType: isTrial ? "trial" : "normal",
      ownershipType: "purchased",
      priceMicros: Option.some(isTrial ? 0 : 9_990_000),
      currency: Option.some("USD"),
      refundedAt: Option.none(),
      isUpgraded: false,
      reason: Option.some(reason)
    })
  }

  private begin(reason: "purchase" | "renewal", isTrial = false) {
    this.periods.push(this.period(reason, isTrial))
    this.status = "active"
    this.willRenew = true
  }

  private change(nth: number, changes: Partial<StoreTransaction>) {
    const old = this.periods.at(nth)
    if (old !== undefined) {
      this.periods.splice(this.periods.indexOf(old), 1, StoreTransaction.make({ ...old, ...changes }))
    }
  }

  private say(kind: FactKind, about = this.last, status = this.status) {
    const { willRenew } = this
    this.facts.push(
      PurchaseFact.make({
        factId: `${this.name}/${this.facts.length}`,
        store: this.store,
        environment: "production",
        kind,
        signedAt: at(this.now),
        originalTransactionId: this.name,
        accountToken: Option.some("ann"),
        status,
        transaction: about,
        renewal: Option.some(
          RenewalIntent.make({
            willRenew,
            nextProductIdentifier: Option.some(this.next),
            gracePeriodExpiresDate: status === "in_grace_period" ? Option.some(at(this.now + 16 * day)) : Option.none(),
            autoResumeDate: status === "paused" ? Option.some(at(this.now + 20 * day)) : Option.none()
          })
        )
      })
    )
  }

  private readonly deeds: { readonly [Name in Move]: () => boolean } = {
    renew: () => {
      if (this.status !== "active" || !this.willRenew) return false
      this.now += length
      this.begin("renewal")
      this.say("renewed")
      return true
    },
    disable: () => this.switchRenewal(false, "renewal_disabled"),
    enable: () => this.switchRenewal(true, "renewal_enabled"),
    fail: () => this.turn(["active"], "in_grace_period", "renewal_failed"),
    failHard: () =>
      this.turn(
        ["active", "in_grace_period"],
        this.store === "store_a" ? "in_billing_retry" : "on_hold",
        "renewal_failed"
      ),
    recover: () => {
      if (!["in_grace_period", "in_billing_retry", "on_hold"].includes(this.status)) return false
      this.begin("renewal")
      this.say("recovered")
      return true
    },
    expire: () =>
      this.status === "expired" || this.status === "revoked" ? false : this.turn([this.status], "expired", "expired"),
    resubscribe: () => {
      if (this.status !== "expired") return false
      this.now += 2 * length
      this.next = products[0]
      this.begin("purchase")
      this.say("purchased")
      return true
    },
    refund: () => {
      if (this.status === "revoked" || this.status === "expired") return false
      this.change(-1, { refundedAt: Option.some(at(this.now)) })
      return this.turn([this.status], "revoked", "refunded")
    },
    refundEarlier: () => {
      const earlier = this.periods.at(-2)
      if (earlier === undefined || Option.isSome(earlier.refundedAt)) return false
      const back = this.store === "store_a" && this.periods.length % 2 === 0 ? Option.some(3_330_000) : Option.none()
      this.change(-2, { refundedAt: Option.some(at(this.now)), refundedMicros: back })
      this.say("refunded", this.periods.at(-2))
      return true
    },
    reverse: () => {
      if (this.status !== "revoked" || Option.isNone(this.last.refundedAt)) return false
      this.change(-1, { refundedAt: Option.none() })
      return this.turn(["revoked"], "active", "refund_reversed")
    },
    revoke: () => this.turn(["active", "in_grace_period"], "revoked", "revoked"),
    upgrade: () => {
      if (this.status !== "active") return false
      this.next = this.last.productIdentifier === products[2] ? products[0] : products[2]
      this.begin("purchase")
      this.say("product_changed")
      return true
    },
    downgrade: () => {
      if (this.status !== "active" || !this.willRenew || this.next === products[1]) return false
      this.next = products[1]
      this.say("product_change_scheduled")
      return true
    },
    planPause: () => {
      if (this.store !== "store_b" || this.status !== "active" || !this.willRenew) return false
      this.say("pause_schedule_changed", this.last, "paused_pending")
      return true
    },
    pause: () => this.store === "store_b" && this.turn(["active"], "paused", "observed"),
    resume: () => {
      if (this.status !== "paused") return false
      this.begin("renewal")
      this.say("recovered")
      return true
    },
    extend: () => {
      if (this.status !== "active") return false
      const end = Option.getOrElse(this.last.expiresDate, () => at(this.now))
      this.change(-1, { expiresDate: Option.some(DateTime.add(end, { days: 7 })) })
      this.say("extended")
      return true
    },
    announcePrice: () => {
      if (this.status !== "active") return false
      this.say("price_change")
      return true
    },
    observe: () => {
      this.say("observed")
      return true
    }
  }

  private switchRenewal(willRenew: boolean, kind: FactKind): boolean {
    if (this.status !== "active" || this.willRenew === willRenew) return false
    this.willRenew = willRenew
    this.say(kind)
    return true
  }

  private turn(from: ReadonlyArray<StoreStatus>, status: StoreStatus, kind: FactKind): boolean {
    if (!from.includes(this.status)) return false
    this.status = status
    this.say(kind)
    return true
  }

  do(move: Move, hours: number) {
    this.now += hours * hour
    if (!this.deeds[move]()) this.deeds.observe()
  }
}

export type Facts = readonly [PurchaseFact, ...Array<PurchaseFact>]

const chainOf = (nth: number, moves: FastCheck.Arbitrary<ReadonlyArray<readonly [Move, number]>>) =>
  FastCheck.tuple(FastCheck.constantFrom<Array<Store>>("store_a", "store_b"), FastCheck.boolean(), moves).map(
    ([store, isTrial, chosen]): ReadonlyArray<PurchaseFact> => {
      const chain = new Chain(nth, store, isTrial)
      chosen.forEach(([move, hours]) => chain.do(move, hours))
      return chain.facts
    }
  )

/** What is bought once: completed, perhaps taken back, given back and taken again, each told more than once. */
const oneTime = (nth: number) =>
  FastCheck.tuple(
    FastCheck.constantFrom<Array<Store>>("store_a", "store_b"),
    FastCheck.constantFrom("non_consumable" as const, "consumable" as const),
    FastCheck.nat(4)
  ).map(([store, productType, turns]) =>
    Array.from({ length: turns + 1 }, (_, turn) => {
      const bought = epoch + nth * hour
      const said = bought + turn * day
      const taken = turn === 0 || (store === "store_a" && turn % 2 === 0) ? Option.none() : Option.some(at(said))
      const transactionId = `once-${nth}`
      return PurchaseFact.make({
        ...{ factId: `${transactionId}/${turn}`, store, environment: "production", signedAt: at(said) },
        kind: turn === 0 ? "purchased" : Option.isSome(taken) ? "refunded" : "refund_reversed",
        originalTransactionId: transactionId,
        accountToken: Option.some("ann"),
        status: Option.isSome(taken) ? "revoked" : "active",
        transaction: StoreTransaction.make({
          ...{ transactionId, productType, productIdentifier: productType === "consumable" ? "coins" : "lifetime" },
          ...{ purchaseDate: at(bought), originalPurchaseDate: at(bought), expiresDate: Option.none() },
          ...{ periodType: "normal", ownershipType: "purchased", isUpgraded: false, refundedAt: taken },
          ...{ priceMicros: Option.some(4_990_000), currency: Option.some("USD") }
        }),
        renewal: Option.none()
      })
    })
  )

/** A person's purchases: `chains` subscriptions of both stores with as many statements each, and items bought once. */
export const histories = (chains: number, statements: number): FastCheck.Arbitrary<ReadonlyArray<PurchaseFact>> => {
  const chosen = FastCheck.array(
    FastCheck.tuple(FastCheck.constantFrom(...moves), FastCheck.integer({ min: 1, max: 200 })),
    {
      minLength: statements - 1,
      maxLength: statements - 1
    }
  )
  return FastCheck.tuple(
    ...Array.from({ length: chains }, (_, nth) => chainOf(nth, chosen)),
    ...Array.from({ length: Math.ceil(chains / 2) }, (_, nth) => oneTime(nth))
  ).map((parts) => parts.flat())
}

/** The same statements in any order, some of them several times. */
export const arrivalOf = (facts: ReadonlyArray<PurchaseFact>): FastCheck.Arbitrary<ReadonlyArray<PurchaseFact>> =>
  FastCheck.array(FastCheck.nat(), { minLength: facts.length * 2, maxLength: facts.length * 2 }).map((keys) =>
    [...facts, ...facts.filter((_, index) => (keys[facts.length + index] ?? 0) % 4 === 0)]
      .map((fact, index) => ({ fact, key: keys[index] ?? 0 }))
      .sort((left, right) => left.key - right.key)
      .map(({ fact }) => fact)
  )

export const byChain = (facts: ReadonlyArray<PurchaseFact>): ReadonlyArray<Facts> => {
  const chains = new Map<string, [PurchaseFact, ...Array<PurchaseFact>]>()
  for (const fact of facts) {
    const known = chains.get(fact.originalTransactionId)
    if (known === undefined) chains.set(fact.originalTransactionId, [fact])
    else known.push(fact)
  }
  return [...chains.values()]
}
