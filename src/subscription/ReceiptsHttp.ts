import { HttpApiBuilder } from "@effect/platform"
import { Duration, Effect, Option } from "effect"
import { Conflict, Invalid, NotFound, Unavailable } from "../api/Problem.ts"
import { CurrentApp } from "../api/Security.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { Apps } from "../catalog/Apps.ts"
import { type PurchaseUnknown, sentenceOf, type StoreTrouble } from "../store/StoreTrouble.ts"
import { Customers } from "./Customers.ts"
import { type Proof, Receipts } from "./Receipts.ts"

const pause = Duration.seconds(30)

const told: { readonly [Reason in PurchaseUnknown["reason"]]: string } = {
  unknown: "names no purchase in the store",
  another_app: "names a purchase of another app",
  another_product: "is not the product that was bought"
}

const fieldOf = (store: Proof["store"], reason: PurchaseUnknown["reason"]): string => {
  if (store === "store_a") return "transaction_id"
  return reason === "another_product" ? "product_id" : "purchase_token"
}

const unknown = (store: Proof["store"], { reason }: PurchaseUnknown) =>
  new Invalid({ message: "The given data was invalid.", errors: { [fieldOf(store, reason)]: [told[reason]] } })

const inTheWay = (trouble: StoreTrouble) =>
  Effect.zipRight(
    Effect.logWarning("a store could not be asked about a purchase").pipe(
      Effect.annotateLogs({ trouble: trouble._tag, reason: sentenceOf(trouble) })
    ),
    new Unavailable({
      message: "The store cannot be asked at the moment. Nothing was stored; try again later.",
      retryAfter: Math.ceil(Duration.toSeconds(trouble._tag === "StoreLimited" ? trouble.retryAfter : pause))
    })
  )

export const ReceiptsHttp = HttpApiBuilder.group(ServiceApi, "receipts", (handlers) =>
  Effect.gen(function* () {
    const apps = yield* Apps
    const receipts = yield* Receipts
    const customers = yield* Customers

    return handlers.handle("validateReceipt", ({ payload }) =>
      Effect.gen(function* () {
        const { id } = yield* CurrentApp
        const app = yield* apps.byId(id)
        if (Option.isNone(app)) return yield* new NotFound({ message: "No such app." })
        const proof: Proof =
          payload.store === "store_a"
            ? { store: payload.store, transactionId: payload.transaction_id }
            : { store: payload.store, productId: payload.product_id, purchaseToken: payload.purchase_token }
        yield* receipts.validate(app.value, payload.app_user_id, proof)
        return { subscriber: yield* customers.seen(id, payload.app_user_id) }
      }).pipe(
        Effect.catchTags({
          NoCredential: () => new Conflict({ message: `The app has no credential for ${payload.store}.` }),
          OwnedByAnother: () => new Conflict({ message: "The purchase belongs to another customer." }),
          PurchaseUnknown: (error) => unknown(payload.store, error),
          CredentialRejected: inTheWay,
          StoreLimited: inTheWay,
          StoreDown: inTheWay,
          StoreAnswerWrong: inTheWay
        })
      )
    )
  })
)
