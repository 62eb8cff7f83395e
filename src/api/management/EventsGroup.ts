import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { StoreName } from "../../catalog/domain/Product.ts"
import { Environment } from "../../store/domain/PurchaseFact.ts"
import { AppUserId } from "../../subscription/domain/Customer.ts"
import { DomainEventType } from "../../subscription/domain/DomainEvent.ts"
import { fields, list, Moment, Timestamp } from "../Envelope.ts"
import { cursor, limit } from "../Page.ts"
import { BadRequest, Invalid, NotFound } from "../Problem.ts"
import { AccessTokenAuth, requires } from "../Security.ts"
import { appPath } from "./AppsGroup.ts"

export const DomainEvent = Schema.Struct({
  uuid: Schema.String.annotations({ description: "`X-Webhook-Event-Id` of the deliveries" }),
  type: DomainEventType,
  app_user_id: Schema.NullOr(Schema.String).annotations({ description: "The customer's id when it happened" }),
  store: Schema.NullOr(StoreName),
  environment: Schema.NullOr(Environment),
  subscription_uuid: Schema.NullOr(Schema.String),
  data: Schema.Unknown.annotations({ description: "Depends on the type" }),
  created_at: Timestamp
}).annotations({
  identifier: "DomainEvent",
  examples: [
    {
      uuid: "019a9a49-33c8-7b9a-a1d4-0c8e5f2b7d69",
      type: "subscription.renewed",
      app_user_id: "ann",
      store: "store_a",
      environment: "production",
      subscription_uuid: "019a9a47-33c8-7b9a-a1d4-0c8e5f2b7d67",
      data: { product_identifier: "pro.monthly" },
      created_at: "2026-03-02T08:00:00.000Z"
    }
  ]
})

export class EventsGroup extends HttpApiGroup.make("events")
  .add(
    HttpApiEndpoint.get("listEvents")`/apps/${appPath}/events`
      .setUrlParams(
        fields({
          limit,
          cursor,
          type: Schema.optional(DomainEventType),
          app_user_id: Schema.optional(
            AppUserId.annotations({
              description: "Events of the customer to whom this id leads, under any of its ids"
            })
          ),
          from: Schema.optional(Moment.annotations({ description: "Earliest `created_at`, included" })),
          to: Schema.optional(Moment.annotations({ description: "Latest `created_at`, not included" }))
        })
      )
      .addSuccess(list(DomainEvent))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("customers:read"))
      .annotate(OpenApi.Summary, "List domain events, newest first")
  )
  .middleware(AccessTokenAuth) {}
