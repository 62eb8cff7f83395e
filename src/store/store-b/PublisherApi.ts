import { HttpClient, HttpClientRequest } from "@effect/platform"
import { Effect, Option, Schema } from "effect"
import type { ServiceAccount } from "../domain/ServiceAccount.ts"
import type { Acknowledgement } from "../StoreB.ts"
import { StoreAnswerWrong, StoreDown } from "../StoreTrouble.ts"
import { makeAccessTokens } from "./AccessTokens.ts"
import { failureOf } from "./Failures.ts"
import { ProductResource, SubscriptionResource, VoidedResource } from "./Resources.ts"

/** The store's own address. */
export const publisherUrl = "https://androidpublisher.googleapis.com"

/** For whom and about which app the store is asked. */
export interface Access {
  readonly account: ServiceAccount
  readonly packageName: string
}

const limit = "10 seconds"

const down = (detail: string) => new StoreDown({ detail })

/** The calls of the Android Publisher API v3 that are used. Each ends within 10 seconds, the access token included. */
export const makePublisherApi = Effect.fn("PublisherApi.make")(function* (options: { readonly baseUrl: string }) {
  const client = yield* HttpClient.HttpClient
  const tokens = yield* makeAccessTokens
  const base = `${options.baseUrl.replace(/\/+$/, "")}/androidpublisher/v3/applications`

  const call = Effect.fn("PublisherApi.call")(
    function* (access: Access, path: string, request: (url: string) => HttpClientRequest.HttpClientRequest) {
      const token = yield* tokens.of(access.account)
      const url = `${base}/${encodeURIComponent(access.packageName)}/purchases/${path}`
      const response = yield* Effect.mapError(client.execute(HttpClientRequest.bearerToken(request(url), token)), () =>
        down("the store cannot be reached")
      )
      const text = yield* Effect.mapError(response.text, () => down("the store's answer broke off"))
      if (response.status === 401) yield* tokens.forget(access.account)
      if (response.status < 200 || response.status > 299) {
        return yield* failureOf(response.status, text, response.headers["retry-after"])
      }
      return text
    },
    Effect.withTracerEnabled(false),
    Effect.timeoutFail({ duration: limit, onTimeout: () => down("the store did not answer in time") })
  )

  const shaped = <A, I>(schema: Schema.Schema<A, I>) => {
    const decode = Schema.decode(Schema.parseJson(schema))
    return (text: string) =>
      Effect.mapError(decode(text), () => new StoreAnswerWrong({ detail: "an answer of the store has another shape" }))
  }
  const readSubscription = shaped(SubscriptionResource)
  const readProduct = shaped(ProductResource)
  const readVoided = shaped(VoidedResource)

  return {
    subscription: (access: Access, token: string) =>
      Effect.flatMap(
        call(access, `subscriptionsv2/tokens/${encodeURIComponent(token)}`, HttpClientRequest.get),
        readSubscription
      ),
    product: (access: Access, token: string) =>
      Effect.flatMap(
        call(access, `productsv2/tokens/${encodeURIComponent(token)}`, HttpClientRequest.get),
        readProduct
      ),
    /** One page of what was taken back since then, subscriptions included. */
    voided: (access: Access, since: number, page: Option.Option<string>) =>
      Effect.flatMap(
        call(access, "voidedpurchases", (url) =>
          HttpClientRequest.setUrlParams(HttpClientRequest.get(url), {
            type: "1",
            startTime: String(since),
            ...Option.match(page, { onNone: () => ({}), onSome: (token) => ({ token }) })
          })
        ),
        readVoided
      ),
    acknowledge: (access: Access, { productId, purchaseToken, type }: Acknowledgement) => {
      const family = type === "subscription" ? "subscriptions" : "products"
      const path = `${family}/${encodeURIComponent(productId)}/tokens/${encodeURIComponent(purchaseToken)}:acknowledge`
      return Effect.asVoid(
        call(access, path, (url) => HttpClientRequest.bodyUnsafeJson(HttpClientRequest.post(url), {}))
      )
    }
  } as const
})

export type PublisherApi = Effect.Effect.Success<ReturnType<typeof makePublisherApi>>
