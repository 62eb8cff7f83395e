import { HttpApiBuilder } from "@effect/platform"
import { DateTime, Effect, Option } from "effect"
import { NotFound } from "../api/Problem.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { callerApp } from "../catalog/CallerAppHttp.ts"
import { fromMicros } from "../catalog/domain/Money.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import { Customers } from "./Customers.ts"
import { isActiveAt } from "./domain/Access.ts"
import { eventItem } from "./domain/DomainEvent.ts"
import type { Transaction } from "./domain/Transaction.ts"
import { Events } from "./Events.ts"
import { Ledger } from "./Ledger.ts"

const iso = (moment: Option.Option<DateTime.Utc>) => Option.getOrNull(Option.map(moment, DateTime.formatIso))

const transactionItem = (transaction: Transaction) => ({
  uuid: transaction.id,
  app_user_id: transaction.appUserId,
  subscription_uuid: Option.getOrNull(transaction.subscriptionId),
  store: transaction.store,
  environment: transaction.environment,
  store_transaction_id: transaction.storeTransactionId,
  original_transaction_id: transaction.originalTransactionId,
  product_identifier: transaction.productIdentifier,
  period_type: transaction.periodType,
  purchase_date: DateTime.formatIso(transaction.purchaseDate),
  expires_date: iso(transaction.expiresDate),
  refunded_at: iso(transaction.refundedAt),
  price: Option.getOrNull(Option.map(transaction.priceMicros, fromMicros)),
  currency: Option.getOrNull(transaction.currency)
})

export const CustomersHttp = HttpApiBuilder.group(ServiceApi, "customers", (handlers) =>
  Effect.gen(function* () {
    const customers = yield* Customers
    const ledger = yield* Ledger
    const events = yield* Events

    return handlers
      .handle("getCustomer", ({ path }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const subscriber = yield* customers.subscriber(app.id, path.appUserId)
          if (Option.isNone(subscriber)) return yield* new NotFound({ message: "No such customer." })
          return { subscriber: subscriber.value }
        })
      )
      .handle("listSubscriptions", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const page = yield* pageOf(urlParams)
          const now = DateTime.formatIso(yield* DateTime.now)
          const rows = yield* ledger.subscriptions(app.id, page)
          return pageAnswer(
            rows,
            page.limit,
            ({ id }) => id,
            ({ appUserId, id, state }) => ({
              uuid: id,
              store: state.store,
              product_identifier: state.productIdentifier,
              status: state.status,
              is_active: isActiveAt(state, now),
              expires_date: state.expiresDate,
              app_user_id: appUserId,
              environment: state.environment
            })
          )
        })
      )
      .handle("listTransactions", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const page = yield* pageOf(urlParams)
          return pageAnswer(yield* ledger.transactions(app.id, page), page.limit, ({ id }) => id, transactionItem)
        })
      )
      .handle("listEvents", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const page = yield* pageOf(urlParams)
          const rows = yield* events.page(app.id, {
            ...page,
            type: Option.fromNullable(urlParams.type),
            appUserId: Option.fromNullable(urlParams.app_user_id)
          })
          return pageAnswer(rows, page.limit, ({ id }) => id, eventItem)
        })
      )
  })
)
