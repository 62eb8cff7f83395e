import { HttpApiBuilder } from "@effect/platform"
import { DateTime, Effect, Option } from "effect"
import { Conflict, NotFound } from "../api/Problem.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { callerApp } from "../catalog/CallerAppHttp.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import { deliveryItem } from "../webhook/DeliveryView.ts"
import { Customers } from "./Customers.ts"
import { eventItem } from "./domain/DomainEvent.ts"
import { ListedCustomer } from "./domain/ListedCustomer.ts"
import { transactionItem } from "./domain/Transaction.ts"
import { Erasure } from "./Erasure.ts"
import { Happening, History } from "./History.ts"

export const noSuchCustomer = () => new NotFound({ message: "No such customer." })

const customerItem = (customer: ListedCustomer, now: string) => ({
  uuid: customer.id,
  app_user_id: customer.appUserId,
  is_anonymous: customer.isAnonymous,
  first_seen: DateTime.formatIso(customer.firstSeen),
  last_seen: DateTime.formatIso(customer.lastSeen),
  active_entitlements: customer.activeEntitlements(now),
  active_subscriptions: customer.activeSubscriptions(now),
  total_spent: customer.totalSpent
})

const recorded = ({ createdAt, id }: Happening) => ({ uuid: id, created_at: DateTime.formatIso(createdAt) })

const happeningItem = Happening.$match({
  purchase: (happening) => ({
    kind: "purchase" as const,
    ...recorded(happening),
    transaction: transactionItem(happening.transaction)
  }),
  event: (happening) => ({ kind: "event" as const, ...recorded(happening), event: eventItem(happening.event) }),
  delivery: (happening) => ({
    kind: "delivery" as const,
    ...recorded(happening),
    delivery: deliveryItem(happening.delivery)
  })
})

export const CustomersHttp = HttpApiBuilder.group(ServiceApi, "customers", (handlers) =>
  Effect.gen(function* () {
    const customers = yield* Customers
    const erasure = yield* Erasure
    const history = yield* History

    return handlers
      .handle("listCustomers", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const page = yield* pageOf(urlParams)
          const now = DateTime.formatIso(yield* DateTime.now)
          const rows = yield* customers.page(app.id, { ...page, search: Option.fromNullable(urlParams.search) })
          return pageAnswer(
            rows,
            page.limit,
            ({ id }) => id,
            (customer) => customerItem(customer, now)
          )
        })
      )
      .handle("createCustomer", ({ path, payload }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const customer = yield* customers.create(app.id, payload.app_user_id)
          const now = DateTime.formatIso(yield* DateTime.now)
          return { data: customerItem(ListedCustomer.newcomer(customer), now) }
        }).pipe(
          Effect.catchTag(
            "CustomerExists",
            () =>
              new Conflict({
                message: "The customer exists already.",
                errors: { app_user_id: ["leads to a customer already"] }
              })
          )
        )
      )
      .handle("getCustomer", ({ path }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          return { subscriber: yield* customers.subscriber(app.id, path.appUserId) }
        }).pipe(Effect.catchTag("CustomerNotFound", noSuchCustomer))
      )
      .handle("eraseCustomer", ({ path }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          return { data: { uuid: yield* erasure.erase(app.id, path.appUserId), deleted: true as const } }
        }).pipe(Effect.catchTag("CustomerNotFound", noSuchCustomer))
      )
      .handle("customerHistory", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const page = yield* pageOf(urlParams)
          const rows = yield* history.page(app.id, path.appUserId, page)
          return pageAnswer(rows, page.limit, ({ id }) => id, happeningItem)
        }).pipe(Effect.catchTag("CustomerNotFound", noSuchCustomer))
      )
  })
)
