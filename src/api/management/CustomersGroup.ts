import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { AppUserId } from "../../subscription/domain/Customer.ts"
import { data, Deleted, fields, list, Name, Timestamp } from "../Envelope.ts"
import { cursor, limit, PageQuery } from "../Page.ts"
import { BadRequest, Conflict, Invalid, NotFound } from "../Problem.ts"
import { AccessTokenAuth, requires } from "../Security.ts"
import { Delivery } from "../Webhooks.ts"
import { appPath } from "./AppsGroup.ts"
import { DomainEvent } from "./EventsGroup.ts"
import { Transaction } from "./LedgerGroup.ts"
import { SubscriberAnswer } from "./Subscriber.ts"

export const appUserId = AppUserId.annotations({
  description: "The app's own name for a person: 1 to 255 characters of any script, no control characters",
  examples: [AppUserId.make("user-1"), AppUserId.make("$anonymous:0199f3a2")]
})

export const appUserPath = HttpApiSchema.param("appUserId", appUserId)

export const Customer = Schema.Struct({
  uuid: Schema.String,
  app_user_id: Schema.String,
  is_anonymous: Schema.Boolean.annotations({
    description: "Whether the id begins with `$anonymous:` or `$RCAnonymousID:`"
  }),
  first_seen: Timestamp,
  last_seen: Timestamp.annotations({ description: "Exact to 15 minutes" }),
  active_entitlements: Schema.Array(Schema.String).annotations({
    description: "Identifiers of what the customer may use now",
    examples: [["pro"]]
  }),
  active_subscriptions: Schema.Int.annotations({ description: "Subscriptions that give access now" }),
  total_spent: Schema.Record({ key: Schema.String, value: Schema.Number }).annotations({
    description: "By currency: purchases in production, less what was refunded of them, without family-shared ones",
    examples: [{ USD: 12.5 }]
  })
}).annotations({
  identifier: "Customer",
  examples: [
    {
      uuid: "019a9a46-33c8-7b9a-a1d4-0c8e5f2b7d66",
      app_user_id: "ann",
      is_anonymous: false,
      first_seen: "2026-03-02T08:00:00.000Z",
      last_seen: "2026-04-02T08:00:00.000Z",
      active_entitlements: ["pro"],
      active_subscriptions: 1,
      total_spent: { USD: 19.98 }
    }
  ]
})

const recorded = { uuid: Schema.String, created_at: Timestamp }

/** One entry of a customer's timeline. */
export const Happening = Schema.Union(
  Schema.Struct({ kind: Schema.Literal("purchase"), ...recorded, transaction: Transaction }),
  Schema.Struct({ kind: Schema.Literal("event"), ...recorded, event: DomainEvent }),
  Schema.Struct({ kind: Schema.Literal("delivery"), ...recorded, delivery: Delivery })
).annotations({ identifier: "Happening" })

export class CustomersGroup extends HttpApiGroup.make("customers")
  .add(
    HttpApiEndpoint.get("listCustomers")`/apps/${appPath}/customers`
      .setUrlParams(
        fields({
          limit,
          cursor,
          search: Schema.optional(
            Name.annotations({
              description: "How the `app_user_id`, or a merged one, begins; upper and lower case are the same"
            })
          )
        })
      )
      .addSuccess(list(Customer))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("customers:read"))
      .annotate(OpenApi.Summary, "List customers")
      .annotate(
        OpenApi.Description,
        "Newest first. Customers that were merged into another are not listed, but their ids are found by `search`."
      )
  )
  .add(
    HttpApiEndpoint.post("createCustomer")`/apps/${appPath}/customers`
      .setPayload(fields({ app_user_id: appUserId }))
      .addSuccess(data(Customer), { status: 201 })
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("customers:write"))
      .annotate(OpenApi.Summary, "Create a customer before the app meets the person")
      .annotate(OpenApi.Description, "409 when the id leads to a customer already. Event `customer.created`.")
  )
  .add(
    HttpApiEndpoint.get("getCustomer")`/apps/${appPath}/customers/${appUserPath}`
      .addSuccess(SubscriberAnswer)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("customers:read"))
      .annotate(OpenApi.Summary, "Show a customer with entitlements and subscriptions")
      .annotate(OpenApi.Description, "The id goes percent-encoded into the path. A merged id leads to its customer.")
  )
  .add(
    HttpApiEndpoint.del("eraseCustomer")`/apps/${appPath}/customers/${appUserPath}`
      .addSuccess(Deleted)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("customers:write"))
      .annotate(OpenApi.Summary, "Erase a person's data and keep anonymous sums")
      .annotate(
        OpenApi.Description,
        "Subscriptions and transactions stay under a random anonymous id, which replaces every id of the person in events and webhook bodies, sent or not. Aliases, grants, answers of webhook receivers and the stores' signed notifications go. Event `customer.deleted`, which names the person by no id but the customer's `uuid`. A device that still uses the old id is a new customer."
      )
  )
  .add(
    HttpApiEndpoint.get("customerHistory")`/apps/${appPath}/customers/${appUserPath}/history`
      .setUrlParams(PageQuery)
      .addSuccess(list(Happening))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("customers:read"))
      .annotate(OpenApi.Summary, "One timeline of purchases, events and webhook deliveries")
      .annotate(
        OpenApi.Description,
        "Newest first by the time of recording. What happened under ids that were merged since is part of it."
      )
  )
  .middleware(AccessTokenAuth) {}
