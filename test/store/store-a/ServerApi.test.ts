import {
  AppStoreServerAPIClient,
  Environment as Theirs,
  GetTransactionHistoryVersion
} from "@apple/app-store-server-library"
import { NodeHttpClient } from "@effect/platform-node"
import { it } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Chunk, Effect, Layer, Option, Redacted, Stream } from "effect"
import * as ServerApi from "../../../src/store/store-a/ServerApi.ts"
import * as StoreA from "../../../src/simulator/store-a/StoreASimulator.ts"
import { call } from "../../support/Api.ts"
import { p256Key } from "../../support/StoreKeys.ts"

const issuerId = "57246542-96fe-1a63-e053-0824d011072a"
const keyId = "2X9R4HXF34"
const bundleId = "com.example.notes"

/** The store's own client, sent to the simulator: its address is the one thing that it does not let one choose. */
class TheirClient extends AppStoreServerAPIClient {
  constructor(key: string, address: string, environment: Theirs) {
    super(key, keyId, issuerId, bundleId, environment)
    Object.assign(this, { urlBase: address })
  }
}

const setting = Effect.gen(function* () {
  const { url } = yield* StoreA.start({ port: 0, notificationUrl: Option.none() })
  const key = p256Key()
  const control = (path: string, body: unknown = {}) => call("POST", `${url}/_control${path}`, { body })
  yield* control("/keys", { issuer_id: issuerId, key_id: keyId, bundle_id: bundleId, private_key: key })
  const bought = yield* control("/purchases", { bundle_id: bundleId, product_id: "pro.monthly" })
  const id: string = bought.body.purchase.transactionId
  for (const _ of Array.from({ length: 24 })) yield* control(`/purchases/${id}/renew`)
  const access = { issuerId, keyId, bundleId, privateKey: Redacted.make(key) }
  const urls = { production: url, sandbox: `${url}/sandbox` }
  const context = yield* Layer.build(ServerApi.layer(urls).pipe(Layer.provide(NodeHttpClient.layerUndici)))
  const server = yield* Effect.provide(ServerApi.StoreAServer, context)
  return { url, key, control, id, access, server, place: { access, environment: "production" as const } }
}).pipe(Effect.provide(NodeHttpClient.layerUndici))

const chainOf = (jws: ReadonlyArray<string>) =>
  jws.map((one) => JSON.parse(Buffer.from(one.split(".")[1] ?? "", "base64url").toString()).transactionId)

it.scopedLive("the store's own client and ours read the same from the simulator", () =>
  Effect.gen(function* () {
    const { id, key, place, server, url } = yield* setting
    const theirs = new TheirClient(key, url, Theirs.PRODUCTION)
    const first = yield* Effect.promise(() =>
      theirs.getTransactionHistory(id, null, {}, GetTransactionHistoryVersion.V2)
    )
    const second = yield* Effect.promise(() =>
      theirs.getTransactionHistory(id, first.revision ?? null, {}, GetTransactionHistoryVersion.V2)
    )
    const pages = [...(first.signedTransactions ?? []), ...(second.signedTransactions ?? [])]
    const ours = Chunk.toReadonlyArray(yield* Stream.runCollect(server.history(place, id)))
    strictEqual(ours.length, 25)
    deepStrictEqual(chainOf(ours), chainOf(pages))
    const statuses = yield* Effect.promise(() => theirs.getAllSubscriptionStatuses(id))
    const read = yield* server.statuses(place, id)
    deepStrictEqual(
      read.data.map(({ lastTransactions }) => lastTransactions.map(({ status }) => status)),
      statuses.data?.map(({ lastTransactions }) => lastTransactions?.map(({ status }) => status))
    )
    const one = yield* Effect.promise(() => theirs.getTransactionInfo(id))
    deepStrictEqual(chainOf([yield* server.transaction(place, id)]), chainOf([one.signedTransactionInfo ?? ""]))
  })
)

it.scopedLive("both are told that sandbox does not know what was bought in production", () =>
  Effect.gen(function* () {
    const { access, id, key, server, url } = yield* setting
    const theirs = new TheirClient(key, `${url}/sandbox`, Theirs.SANDBOX)
    const told = yield* Effect.promise(() =>
      theirs.getTransactionInfo(id).then(
        () => 0,
        (error: { readonly apiError?: number }) => error.apiError
      )
    )
    strictEqual(told, 4040010)
    const failure = yield* Effect.flip(server.transaction({ access, environment: "sandbox" }, id))
    strictEqual(failure._tag, "PurchaseUnknown")
  })
)

it.scopedLive("a key that the store does not know is refused, and so is another's bundle", () =>
  Effect.gen(function* () {
    const { access, id, server } = yield* setting
    for (const wrong of [
      { privateKey: Redacted.make(p256Key()) },
      { keyId: "UNKNOWN000" },
      { bundleId: "com.other" }
    ]) {
      const place = { access: { ...access, ...wrong }, environment: "production" as const }
      strictEqual((yield* Effect.flip(server.transaction(place, id)))._tag, "CredentialRejected")
    }
  })
)

it.scopedLive("the history of notifications is read over all its pages", () =>
  Effect.gen(function* () {
    const { place, server } = yield* setting
    const all = yield* Stream.runCount(server.notifications(place, { startDate: 0, endDate: Date.now() + 1000 }))
    strictEqual(all, 25)
    strictEqual(yield* Stream.runCount(server.notifications(place, { startDate: 0, endDate: 1 })), 0)
  })
)

it.scopedLive("a test notification needs an address, and its fate can be asked", () =>
  Effect.gen(function* () {
    const { control, place, server } = yield* setting
    strictEqual((yield* Effect.flip(server.requestTest(place)))._tag, "NoNotificationUrl")
    yield* control("/purchases", {
      bundle_id: bundleId,
      product_id: "pro.monthly",
      notification_url: "http://127.0.0.1:1/nobody"
    })
    const status = yield* server.testStatus(place, yield* server.requestTest(place))
    assertTrue(status.sendAttempts[0]?.sendAttemptResult !== "SUCCESS")
  })
)
