import { HttpApiBuilder } from "@effect/platform"
import { DateTime, Effect, Option } from "effect"
import { ServiceApi } from "../api/ServiceApi.ts"
import { callerApp } from "../catalog/CallerAppHttp.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import { subscriptionItem } from "./domain/SubscriberView.ts"
import { transactionItem } from "./domain/Transaction.ts"
import { Ledger } from "./Ledger.ts"

export const LedgerHttp = HttpApiBuilder.group(ServiceApi, "ledger", (handlers) =>
  Effect.map(Ledger, (ledger) =>
    handlers
      .handle("listSubscriptions", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const page = yield* pageOf(urlParams)
          const now = DateTime.formatIso(yield* DateTime.now)
          const rows = yield* ledger.subscriptions({
            appId: app.id,
            status: urlParams.status ?? null,
            store: urlParams.store ?? null,
            productIdentifier: urlParams.product_identifier ?? null,
            environment: urlParams.environment ?? null,
            appUserId: urlParams.app_user_id ?? null,
            before: Option.getOrNull(page.before),
            limit: page.limit
          })
          return pageAnswer(
            rows,
            page.limit,
            ({ id }) => id,
            ({ appUserId, id, state }) => ({
              ...subscriptionItem(id, state, now),
              product_identifier: state.productIdentifier,
              app_user_id: appUserId
            })
          )
        })
      )
      .handle("listTransactions", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const page = yield* pageOf(urlParams)
          const rows = yield* ledger.transactions({
            appId: app.id,
            store: urlParams.store ?? null,
            productIdentifier: urlParams.product_identifier ?? null,
            environment: urlParams.environment ?? null,
            appUserId: urlParams.app_user_id ?? null,
            from: urlParams.from ?? null,
            to: urlParams.to ?? null,
            before: Option.getOrNull(page.before),
            limit: page.limit
          })
          return pageAnswer(rows, page.limit, ({ id }) => id, transactionItem)
        })
      )
  )
)
