import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Conflict, Invalid, NotFound } from "../Problem.ts"
import { repeatable } from "../Repeatable.ts"
import { AppKeyAuth } from "../Security.ts"
import { fields } from "../Envelope.ts"
import { appUserId } from "./CustomersGroup.ts"
import { SubscriberAnswer } from "./Subscriber.ts"

const proof = (longest: number, description: string, example: string) =>
  Schema.String.pipe(
    Schema.minLength(1, { message: () => "must not be empty" }),
    Schema.maxLength(longest, { message: () => `must have at most ${longest} characters` }),
    Schema.filter((text) => !/[\p{Cc}\p{Cs}]/u.test(text) || "must not contain control characters", { jsonSchema: {} })
  ).annotations({ description, examples: [example] })

const ofStoreA = fields({
  store: Schema.Literal("store_a"),
  app_user_id: appUserId,
  transaction_id: proof(64, "Of any transaction of the purchase, as the store's SDK shows it", "2000000123456789")
})

const ofStoreB = fields({
  store: Schema.Literal("store_b"),
  app_user_id: appUserId,
  product_id: proof(255, "The product that was bought", "pro.monthly"),
  purchase_token: proof(4096, "The token that the store gave to the app", "ajk…")
})

export class ReceiptsGroup extends HttpApiGroup.make("receipts")
  .add(
    HttpApiEndpoint.post("validateReceipt", "/client/receipts")
      .setPayload(Schema.Union(ofStoreA, ofStoreB).annotations({ parseOptions: { errors: "all" } }))
      .addSuccess(SubscriberAnswer)
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .addError(Invalid.wire)
      .annotateContext(repeatable("leased"))
      .annotate(OpenApi.Summary, "Show a purchase, and get the subscriber that it makes")
      .annotate(
        OpenApi.Description,
        "The store is asked, in production first and then in sandbox, and what it says is recorded. The same purchase " +
          "again, at the same time too, makes one transaction and one event. 409 when the app has no credential for the " +
          "store, or when the purchase belongs to another customer and the app's `transfer_behavior` is `keep`; with " +
          "`transfer` it moves here, which `customer.transferred` tells. A purchase of an anonymous customer merges that " +
          "customer into this one. 422 when the store knows no such purchase of this app. 503 with `Retry-After` when " +
          "the store does not answer within 10 seconds, or not as it should: nothing is stored."
      )
  )
  .middleware(AppKeyAuth) {}
