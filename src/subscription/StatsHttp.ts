import { HttpApiBuilder } from "@effect/platform"
import { DateTime, Effect, Option, Record } from "effect"
import { Invalid } from "../api/Problem.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { callerApp } from "../catalog/CallerAppHttp.ts"
import { fromMicros } from "../catalog/domain/Money.ts"
import type { Amounts } from "./domain/Amounts.ts"
import type { StatsView } from "./domain/Stats.ts"
import { statsRange } from "./domain/StatsRange.ts"
import { Stats } from "./Stats.ts"

const decimals = (amounts: Amounts) => Record.map(amounts, fromMicros)

const money = ({ mrr, refunds, revenue }: Pick<StatsView, "mrr" | "revenue" | "refunds">) => ({
  mrr: decimals(mrr),
  revenue: decimals(revenue),
  refunds: decimals(refunds)
})

const statsItem = (stats: StatsView) => ({
  customers: stats.customers,
  new_customers: stats.newCustomers,
  active_subscriptions: stats.activeSubscriptions,
  active_trials: stats.activeTrials,
  in_grace_period: stats.inGracePeriod,
  in_billing_retry: stats.inBillingRetry,
  on_hold: stats.onHold,
  churned: stats.churned,
  churn_rate: stats.churnRate,
  trial_conversions: stats.trialConversions,
  trial_conversion_rate: stats.trialConversionRate,
  ...money(stats),
  by_product: stats.byProduct.map((product) => ({
    store: product.store,
    product_identifier: product.productIdentifier,
    active_subscriptions: product.activeSubscriptions,
    active_trials: product.activeTrials,
    ...money(product)
  })),
  series: {
    day: stats.series.day,
    revenue: stats.series.revenue.map(decimals),
    active_subscriptions: stats.series.activeSubscriptions
  }
})

export const StatsHttp = HttpApiBuilder.group(ServiceApi, "stats", (handlers) =>
  Effect.map(Stats, (stats) =>
    handlers.handle("getStats", ({ path, urlParams }) =>
      Effect.gen(function* () {
        const app = yield* callerApp(path.app)
        const query = { from: Option.fromNullable(urlParams.from), to: Option.fromNullable(urlParams.to) }
        const range = yield* Effect.mapError(
          statsRange(query, yield* DateTime.now),
          (errors) => new Invalid({ message: "The given data was invalid.", errors })
        )
        return { data: statsItem(yield* stats.read(app.id, urlParams.environment, range)) }
      })
    )
  )
)
