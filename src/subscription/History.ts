import { Array, Context, Data, type DateTime, Effect, Layer, Option } from "effect"
import type { AppId } from "../catalog/domain/App.ts"
import { Deliveries } from "../webhook/Deliveries.ts"
import type { Delivery } from "../webhook/domain/Delivery.ts"
import { CustomerRepo } from "./CustomerRepo.ts"
import { CustomerNotFound } from "./Customers.ts"
import type { AppUserId } from "./domain/Customer.ts"
import type { DomainEvent } from "./domain/DomainEvent.ts"
import type { Transaction } from "./domain/Transaction.ts"
import { EventRepo } from "./EventRepo.ts"
import { HistoryRepo } from "./HistoryRepo.ts"
import { TransactionListRepo } from "./TransactionListRepo.ts"

interface Recorded {
  readonly id: string
  readonly createdAt: DateTime.Utc
}

/** Something that happened with a customer, at the time when it was recorded. */
export type Happening = Data.TaggedEnum<{
  purchase: Recorded & { readonly transaction: Transaction }
  event: Recorded & { readonly event: DomainEvent }
  delivery: Recorded & { readonly delivery: Delivery }
}>
export const Happening = Data.taggedEnum<Happening>()

/** One timeline of a customer's purchases, events and webhook deliveries (contract, part 3, "Customers"). */
export class History extends Context.Tag("gatehouse/subscription/History")<
  History,
  {
    /** Newest first, four statements whatever the length of the page. Merged customers' past is part of it. */
    readonly page: (
      appId: AppId,
      appUserId: AppUserId,
      page: { readonly before: Option.Option<string>; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<Happening>, CustomerNotFound>
  }
>() {
  static readonly layer = Layer.effect(
    History,
    Effect.gen(function* () {
      const timeline = yield* HistoryRepo
      const customers = yield* CustomerRepo
      const transactions = yield* TransactionListRepo
      const events = yield* EventRepo
      const deliveries = yield* Deliveries

      const page = Effect.fn("History.page")(function* (
        appId: AppId,
        appUserId: AppUserId,
        { before, limit }: { readonly before: Option.Option<string>; readonly limit: number }
      ) {
        const customerId = yield* customers.idOf({ appId, appUserId })
        if (Option.isNone(customerId)) return yield* new CustomerNotFound()
        const entries = yield* timeline.page({ customerId: customerId.value, before: Option.getOrNull(before), limit })
        const idsOf = (wanted: Happening["_tag"]) => entries.filter(({ kind }) => kind === wanted).map(({ id }) => id)
        const purchases = byId(yield* transactions.byIds(idsOf("purchase")))
        const told = byId(yield* events.byIds(idsOf("event")))
        const sent = byId(yield* deliveries.byIds("app", idsOf("delivery")))
        return Array.filterMap(entries, ({ createdAt, id, kind }): Option.Option<Happening> => {
          switch (kind) {
            case "purchase":
              return Option.map(purchases(id), (transaction) => Happening.purchase({ id, createdAt, transaction }))
            case "event":
              return Option.map(told(id), (event) => Happening.event({ id, createdAt, event }))
            case "delivery":
              return Option.map(sent(id), (delivery) => Happening.delivery({ id, createdAt, delivery }))
          }
        })
      })

      return History.of({ page })
    })
  ).pipe(Layer.provide([HistoryRepo.Default, CustomerRepo.Default, TransactionListRepo.Default, EventRepo.Default]))
}

const byId = <A extends { readonly id: string }>(records: ReadonlyArray<A>) => {
  const known = new Map<string, A>(records.map((record) => [record.id, record]))
  return (id: string): Option.Option<A> => Option.fromNullable(known.get(id))
}
