import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { StoreName } from "../../catalog/domain/Product.ts"
import { NotificationState } from "../../subscription/domain/Inbox.ts"
import { data, fields, list, Timestamp } from "../Envelope.ts"
import { cursor, limit } from "../Page.ts"
import { BadRequest, Invalid, NotFound, Unauthenticated, Unavailable } from "../Problem.ts"
import { repeatable } from "../Repeatable.ts"
import { AccessTokenAuth, requires } from "../Security.ts"
import { appPath } from "./AppsGroup.ts"

/** What became of a notification: `accepted` now, a `duplicate` of an earlier one, or kept but `ignored`. */
export const Acknowledgement = Schema.Struct({
  status: Schema.Literal("accepted", "duplicate", "ignored"),
  uuid: Schema.String
})

/** A message as the store's publisher pushes it, wrapped. */
const PushEnvelope = fields({
  message: Schema.Struct({
    data: Schema.NonEmptyString.annotations({ description: "The store's notification: base64 of JSON" }),
    messageId: Schema.NonEmptyString.pipe(Schema.maxLength(255)).annotations({
      description: "Equal over repeats of the same notification",
      examples: ["2070443601311540"]
    })
  })
})

const StoreNotification = Schema.Struct({
  uuid: Schema.String,
  store: StoreName,
  notification_id: Schema.String,
  type: Schema.String,
  subtype: Schema.NullOr(Schema.String),
  environment: Schema.NullOr(Schema.String),
  state: NotificationState,
  reason: Schema.NullOr(Schema.String),
  signed_at: Timestamp,
  received_at: Timestamp
}).annotations({
  identifier: "StoreNotification",
  examples: [
    {
      uuid: "019a9a4d-33c8-7b9a-a1d4-0c8e5f2b7d6d",
      store: "store_a",
      notification_id: "0d2f7a4e-7c1b-4a9e-8f0a-944455556666",
      type: "DID_RENEW",
      subtype: null,
      environment: "production",
      state: "applied",
      reason: null,
      signed_at: "2026-03-02T08:00:00.000Z",
      received_at: "2026-03-02T08:00:00.000Z"
    }
  ]
})

export class InboundGroup extends HttpApiGroup.make("inbound")
  .add(
    HttpApiEndpoint.post("storeANotification")`/stores/store_a/notifications/${appPath}`
      .setPayload(
        fields({
          signedPayload: Schema.NonEmptyString.annotations({ description: "The store's JWS in compact form" })
        })
      )
      .addSuccess(data(Acknowledgement))
      .addError(Unauthenticated.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .addError(Unavailable.wire)
      .annotateContext(repeatable("never"))
      .annotate(OpenApi.Summary, "Receive a notification of store A")
      .annotate(
        OpenApi.Description,
        "Its signature must lead up to the store's own root. Where revoked certificates must be ruled out and nobody can " +
          "tell, the answer is 503 and nothing is kept: the store sends the notification again."
      )
  )
  .add(
    HttpApiEndpoint.post("storeBNotification")`/stores/store_b/notifications/${appPath}`
      .setPayload(PushEnvelope)
      .setHeaders(Schema.Struct({ authorization: Schema.optional(Schema.String) }))
      .addSuccess(data(Acknowledgement))
      .addError(Unauthenticated.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(repeatable("never"))
      .annotate(OpenApi.Summary, "Receive a push notification of store B")
      .annotate(
        OpenApi.Description,
        "The push only says that something changed: the purchase is read back from the store. Where a push audience is " +
          "set, the bearer token of the push is verified. A store that does not answer leaves the push waiting in the " +
          "inbox; it is accepted all the same."
      )
  ) {}

export class StoreNotificationsGroup extends HttpApiGroup.make("storeNotifications")
  .add(
    HttpApiEndpoint.get("listStoreNotifications")`/apps/${appPath}/store-notifications`
      .setUrlParams(fields({ limit, cursor, state: Schema.optional(NotificationState) }))
      .addSuccess(list(StoreNotification))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("customers:read"))
      .annotate(OpenApi.Summary, "List what the stores reported and what became of it")
  )
  .middleware(AccessTokenAuth) {}
