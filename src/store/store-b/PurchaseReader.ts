import { DateTime, Effect, Option } from "effect"
import type { Origin, PurchaseQuestion, StoreBFailure, StorePurchase } from "../StoreB.ts"
import { awaitsAcknowledgement, ownOrigin, productFacts, subscriptionFact } from "./Facts.ts"
import type { Access, PublisherApi } from "./PublisherApi.ts"
import type { SubscriptionResource } from "./Resources.ts"

/** How far a purchase is followed over what it replaced: each step is a call. */
const longestLineage = 10

/** Reads one purchase with a given access, in neutral words. */
export const makePurchaseReader = (api: PublisherApi) => {
  /** Follows what a purchase replaced back to the first that is known or can be read. */
  const originOf = (
    access: Access,
    question: Pick<PurchaseQuestion, "originOf">,
    resource: SubscriptionResource,
    purchaseToken: string,
    steps: number
  ): Effect.Effect<Origin, StoreBFailure> =>
    Effect.gen(function* () {
      const own = ownOrigin(resource, purchaseToken, yield* DateTime.now)
      const before = resource.linkedPurchaseToken
      if (before === undefined || steps === 0) return own
      const known = yield* question.originOf(before)
      if (Option.isSome(known)) return known.value
      return yield* api.subscription(access, before).pipe(
        Effect.flatMap((replaced) => originOf(access, question, replaced, before, steps - 1)),
        Effect.catchTag("PurchaseUnknown", () => Effect.succeed(own))
      )
    })

  const subscription = Effect.fn("PurchaseReader.subscription")(function* (access: Access, question: PurchaseQuestion) {
    const { factId, kind, purchaseToken, voided } = question
    const resource = yield* api.subscription(access, purchaseToken)
    const readAt = yield* DateTime.now
    const known = yield* question.originOf(purchaseToken)
    const origin = Option.isSome(known)
      ? known.value
      : yield* originOf(access, question, resource, purchaseToken, longestLineage)
    const voidedAt = (orderId: string) => Option.fromNullable(voided.get(orderId))
    const occasion = { factId, kind, purchaseToken, readAt, origin: Option.some(origin), voidedAt }
    const fact = subscriptionFact(resource, occasion)
    const isAwaited = awaitsAcknowledgement(resource.acknowledgementState, resource.subscriptionState)
    return {
      readAt,
      facts: Option.toArray(fact),
      origin,
      replaces: Option.fromNullable(resource.linkedPurchaseToken),
      awaitsAcknowledgement: Option.filter(Option.fromNullable(resource.lineItems[0]?.productId), () => isAwaited)
    } satisfies StorePurchase
  })

  const product = Effect.fn("PurchaseReader.product")(function* (access: Access, question: PurchaseQuestion) {
    const { factId, kind, purchaseToken, voided } = question
    const resource = yield* api.product(access, purchaseToken)
    const readAt = yield* DateTime.now
    const voidedAt = (orderId: string) => Option.fromNullable(voided.get(orderId))
    const facts = productFacts(resource, { factId, kind, purchaseToken, readAt, origin: Option.none(), voidedAt })
    const isAwaited = awaitsAcknowledgement(resource.acknowledgementState, resource.purchaseStateContext?.purchaseState)
    return {
      readAt,
      facts,
      origin: {
        originalTransactionId: facts[0]?.originalTransactionId ?? resource.orderId ?? factId,
        startedAt: resource.purchaseCompletionTime ?? readAt
      },
      replaces: Option.none(),
      awaitsAcknowledgement: Option.filter(Option.fromNullable(resource.productLineItem[0]?.productId), () => isAwaited)
    } satisfies StorePurchase
  })

  return (access: Access, question: PurchaseQuestion): Effect.Effect<StorePurchase, StoreBFailure> =>
    question.type === "subscription" ? subscription(access, question) : product(access, question)
}
