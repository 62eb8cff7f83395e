import { DateTime, Option, Schema } from "effect"
import type { AppId } from "../catalog/domain/App.ts"
import { PurchaseFact } from "../store/domain/PurchaseFact.ts"
import { lookAt } from "./domain/Agenda.ts"
import type { Customer, CustomerId } from "./domain/Customer.ts"
import type { DomainEvent } from "./domain/DomainEvent.ts"
import type { InboxEntry } from "./domain/Inbox.ts"
import { ledgerEntry } from "./domain/LedgerEntry.ts"
import type { PurchasePlan } from "./domain/PurchasePlan.ts"
import type { Subscription, SubscriptionId } from "./domain/Subscription.ts"
import { momentOrNull } from "./domain/Transaction.ts"

type Row = Readonly<Record<string, unknown>>

const encodeFact = Schema.encodeSync(PurchaseFact)

/** A notification that is applied in the statement that keeps it. */
export const notificationRow = (appId: AppId, entry: InboxEntry, payload: string): Row => ({
  id: entry.id,
  app_id: appId,
  store: entry.store,
  notification_id: entry.notificationId,
  type: entry.type,
  subtype: Option.getOrNull(entry.subtype),
  environment: Option.getOrNull(entry.environment),
  state: entry.state,
  payload,
  signed_at: DateTime.formatIso(entry.signedAt),
  received_at: DateTime.formatIso(entry.receivedAt)
})

export const customerRow = (appId: AppId, customer: Customer): Row => ({
  id: customer.id,
  app_id: appId,
  app_user_id: customer.appUserId,
  is_anonymous: customer.isAnonymous,
  first_seen: DateTime.formatIso(customer.firstSeen),
  last_seen: DateTime.formatIso(customer.lastSeen)
})

interface Place {
  readonly appId: AppId
  readonly customerId: CustomerId
  readonly subscriptionId: SubscriptionId
  readonly now: DateTime.Utc
}

export const subscriptionRow = (place: Place, state: Subscription, encoded: typeof Subscription.Encoded): Row => ({
  id: place.subscriptionId,
  app_id: place.appId,
  customer_id: place.customerId,
  store: state.store,
  environment: state.environment,
  original_transaction_id: state.originalTransactionId,
  product_identifier: state.productIdentifier,
  status: state.status,
  expires_date: momentOrNull(state.expiresDate),
  look_at: momentOrNull(lookAt(state, place.now)),
  state: encoded,
  created_at: DateTime.formatIso(place.now),
  updated_at: DateTime.formatIso(place.now)
})

export const factRow = (subscriptionId: SubscriptionId, fact: PurchaseFact): Row => ({
  subscription_id: subscriptionId,
  fact_id: fact.factId,
  signed_at: DateTime.formatIso(fact.signedAt),
  fact: encodeFact(fact)
})

/** The newest word of the store on the period of a statement, which may come from a later statement. */
export const transactionRow = (place: Place, id: string, plan: PurchasePlan): Row => {
  const { coveredUntil, subscription, transaction } = plan
  const { currency, priceMicros, refundedAt, refundedMicros } = ledgerEntry(transaction)
  return {
    id,
    app_id: place.appId,
    customer_id: place.customerId,
    subscription_id: place.subscriptionId,
    store: subscription.store,
    environment: subscription.environment,
    store_transaction_id: transaction.transactionId,
    original_transaction_id: subscription.originalTransactionId,
    product_identifier: transaction.productIdentifier,
    period_type: transaction.periodType,
    ownership_type: transaction.ownershipType,
    purchase_date: DateTime.formatIso(transaction.purchaseDate),
    expires_date: momentOrNull(transaction.expiresDate),
    refunded_at: momentOrNull(refundedAt),
    refunded_micros: Option.getOrNull(refundedMicros),
    price_micros: Option.getOrNull(priceMicros),
    currency: Option.getOrNull(currency),
    covered_until: momentOrNull(coveredUntil),
    created_at: DateTime.formatIso(place.now)
  }
}

export const eventRow = (appId: AppId, cause: string, event: DomainEvent): Row => ({
  id: event.id,
  app_id: appId,
  type: event.type,
  cause,
  app_user_id: Option.getOrNull(event.appUserId),
  store: Option.getOrNull(event.store),
  environment: Option.getOrNull(event.environment),
  subscription_id: Option.getOrNull(event.subscriptionId),
  data: event.data,
  created_at: DateTime.formatIso(event.createdAt)
})

/** All rows of one statement of a store, by table. */
export interface PurchaseRows {
  readonly store_notifications: ReadonlyArray<Row>
  readonly customers: ReadonlyArray<Row>
  readonly subscriptions: ReadonlyArray<Row>
  readonly store_facts: ReadonlyArray<Row>
  readonly transactions: ReadonlyArray<Row>
  readonly domain_events: ReadonlyArray<Row>
}

/** The columns that are written; all others have their defaults. */
export const columns: { readonly [Table in keyof PurchaseRows]: string } = {
  store_notifications:
    "id, app_id, store, notification_id, type, subtype, environment, state, payload, signed_at, received_at",
  customers: "id, app_id, app_user_id, is_anonymous, first_seen, last_seen",
  subscriptions: `id, app_id, customer_id, store, environment, original_transaction_id, product_identifier, status,
    expires_date, look_at, state, created_at, updated_at`,
  store_facts: "subscription_id, fact_id, signed_at, fact",
  transactions: `id, app_id, customer_id, subscription_id, store, environment, store_transaction_id,
    original_transaction_id, product_identifier, period_type, ownership_type, purchase_date, expires_date, refunded_at,
    refunded_micros, price_micros, currency, covered_until, created_at`,
  domain_events: "id, app_id, type, cause, app_user_id, store, environment, subscription_id, data, created_at"
}
