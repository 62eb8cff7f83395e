import { SqlClient } from "@effect/sql"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { AppId } from "../catalog/domain/App.ts"
import { soldAs } from "../catalog/domain/Product.ts"
import type { Environment } from "../store/domain/PurchaseFact.ts"
import { type ProductName, statsOf, type StatsView } from "./domain/Stats.ts"
import { endOf, type StatsRange } from "./domain/StatsRange.ts"
import { LedgerDaysRepo } from "./LedgerDaysRepo.ts"
import { StatsRepo } from "./StatsRepo.ts"

/** An app's figures, computed from its ledger when asked (contract, part 3, "Stats"). */
export class Stats extends Context.Tag("gatehouse/subscription/Stats")<
  Stats,
  {
    /** The range must begin in the past. All figures are of one moment of the ledger; money is micros. */
    readonly read: (appId: AppId, environment: Environment, range: StatsRange) => Effect.Effect<StatsView>
    /**
     * Sums up past days that have changed, some at a time, and answers how many. A change that commits meanwhile leaves a
     * mark that was not seen, so its day stays changed. Nothing happens while another program does the same.
     */
    readonly settle: Effect.Effect<number>
  }
>() {
  static readonly layer = Layer.effect(
    Stats,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* StatsRepo
      const days = yield* LedgerDaysRepo

      const read = Effect.fn("Stats.read")(
        function* (appId: AppId, environment: Environment, range: StatsRange) {
          const now = yield* DateTime.now
          const until = endOf(range)
          const query = { appId, environment, from: range.from, until, at: DateTime.min(until, now), now }
          yield* repo.snapshot
          const { changes, customers, firstPaid, money, products, running, trials, troubled } = yield* Effect.all({
            customers: Effect.orDie(repo.customers(query)),
            troubled: repo.troubled(query),
            money: repo.money(query),
            running: repo.running(query),
            products: repo.products(appId),
            changes: repo.changes(query),
            firstPaid: Effect.orDie(repo.firstPaid(query)),
            trials: Effect.orDie(repo.trials(query))
          })
          const periodOf = ({ productIdentifier, store }: ProductName) =>
            Option.flatMap(
              soldAs(
                store,
                productIdentifier,
                products.filter((product) => product.store === store)
              ),
              ({ subscriptionPeriod }) => subscriptionPeriod
            )
          const inTrouble = (wanted: (typeof troubled)[number]["status"]) =>
            troubled.find(({ status }) => status === wanted)?.count ?? 0
          return statsOf(range, {
            ...customers,
            ...trials,
            troubled: {
              in_grace_period: inTrouble("in_grace_period"),
              in_billing_retry: inTrouble("in_billing_retry"),
              on_hold: inTrouble("on_hold")
            },
            takingsByDay: money.filter((row) => row.day !== null),
            takingsByProduct: money.filter((row) => row.day === null),
            running: running.map(({ periodType, ...periods }) => ({
              ...periods,
              isTrial: periodType === "trial",
              subscriptionPeriod: periodType === "normal" ? periodOf(periods) : Option.none()
            })),
            activeAtStart: changes.find(({ day }) => day === null)?.change ?? 0,
            changes: changes.flatMap(({ change, day }) => (day === null ? [] : [{ change, day }])),
            firstPaid: firstPaid.count
          })
        },
        sql.withTransaction,
        Effect.catchTag("SqlError", Effect.die)
      )

      const settle = Effect.gen(function* () {
        yield* days.snapshot
        if (!(yield* days.lock)) return 0
        yield* days.thinMarks
        return yield* days.settle
      }).pipe(sql.withTransaction, Effect.catchTag("SqlError", Effect.die), Effect.withSpan("Stats.settle"))

      return Stats.of({ read, settle })
    })
  ).pipe(Layer.provide([StatsRepo.Default, LedgerDaysRepo.Default]))
}
