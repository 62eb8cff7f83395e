import { describe, it } from "@effect/vitest"
import { assertTrue, deepStrictEqual } from "@effect/vitest/utils"
import { Array, DateTime, Schema } from "effect"
import type { PurchaseFact } from "../../../src/store/domain/PurchaseFact.ts"
import type { DomainEventType } from "../../../src/subscription/domain/DomainEvent.ts"
import { replay } from "../../../src/subscription/domain/Lifecycle.ts"
import { isOneTime } from "../../../src/subscription/domain/OneTime.ts"
import { Subscription } from "../../../src/subscription/domain/Subscription.ts"
import { arrivalOf, byChain, type Facts, histories } from "../../support/PurchaseHistories.ts"

const encode = Schema.encodeSync(Subscription)

/** What is told when statements come one at a time: each slot once, as the database keeps it. */
const toldInTurn = (facts: Facts): ReadonlyMap<string, DomainEventType> => {
  const told = new Map<string, DomainEventType>()
  const seen: Array<PurchaseFact> = []
  for (const fact of facts) {
    if (seen.some(({ factId }) => factId === fact.factId)) continue
    seen.push(fact)
    if (!Array.isNonEmptyArray(seen)) continue
    for (const { slot, type } of replay(seen).changes) if (!told.has(slot)) told.set(slot, type)
  }
  return told
}

const periodWords: ReadonlyArray<string> = [
  "subscription.started",
  "subscription.trial_started",
  "subscription.renewed",
  "subscription.trial_converted",
  "subscription.product_changed"
]

/**
 * Whether a period was told of before all was known of the one that it followed (that it was, or that its refund was
 * reversed): what it is called may turn out otherwise.
 */
const cameEarly = (arrival: Facts, slot: string): boolean => {
  const order = [...replay(arrival).transactions.values()]
    .sort((left, right) => DateTime.Order(left.purchaseDate, right.purchaseDate))
    .map(({ transactionId }) => transactionId)
  const place = order.findIndex((transactionId) => slot.split(":")[1] === transactionId)
  const first = (nth: number) => arrival.findIndex(({ transaction }) => transaction.transactionId === order[nth])
  const newest = (nth: number) =>
    arrival.findLastIndex(
      ({ factId, transaction }, at) =>
        transaction.transactionId === order[nth] && arrival.findIndex((fact) => fact.factId === factId) === at
    )
  return place > 0 && first(place) < newest(place - 1)
}

const converges = (facts: Facts, arrival: Facts) => {
  const [ordered, mixed] = [replay(facts), replay(arrival)]
  deepStrictEqual(encode(mixed.subscription), encode(ordered.subscription))
  deepStrictEqual(
    new Map([...mixed.transactions].sort()),
    new Map([...ordered.transactions].sort()),
    "the transactions differ"
  )
  const wanted = ordered.changes.map(({ slot }) => slot)
  deepStrictEqual(new Set(wanted).size, wanted.length)
  deepStrictEqual([...toldInTurn(facts).keys()].sort(), [...wanted].sort(), "in order more or less is told")
  const told = toldInTurn(arrival)
  deepStrictEqual(
    wanted.filter((slot) => !told.has(slot)),
    [],
    "something was never told"
  )
  const tooMuch = [...told].filter(([slot]) => !wanted.includes(slot))
  for (const [slot, type] of tooMuch) {
    assertTrue(periodWords.includes(type), slot)
    assertTrue(cameEarly(arrival, slot), slot)
  }
}

const both = (chains: number, statements: number) =>
  histories(chains, statements).chain((facts) => arrivalOf(facts).map((arrival) => ({ facts, arrival })))

const compare = ({
  arrival,
  facts
}: {
  readonly arrival: ReadonlyArray<PurchaseFact>
  readonly facts: ReadonlyArray<PurchaseFact>
}) => {
  const mixed = new Map(byChain(arrival).map((chain) => [chain[0].originalTransactionId, chain]))
  for (const chain of byChain(facts.filter((fact) => !isOneTime(fact)))) {
    converges(chain, mixed.get(chain[0].originalTransactionId) ?? chain)
  }
}

describe("what a store says of purchases", () => {
  it.prop(
    "in any order and any number of times makes the same state, ledger and events: short histories",
    [both(1, 7)],
    ([story]) => compare(story),
    { fastCheck: { numRuns: 60, endOnFailure: true } }
  )

  it.prop(
    "and histories of 240 statements over 8 subscriptions of both stores",
    [both(8, 30)],
    ([story]) => compare(story),
    { fastCheck: { numRuns: 1, endOnFailure: true } }
  )
})
