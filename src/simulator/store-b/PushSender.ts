import { HttpClient, HttpClientRequest } from "@effect/platform"
import { randomUUID } from "node:crypto"
import { Clock, Effect } from "effect"
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import type { Receiver } from "../Courier.ts"

/** A push as it was written: what every attempt sends. */
export interface Push {
  readonly messageId: string
  readonly url: string | undefined
  readonly audience: string
  readonly notification: object
  readonly body: object
}

const kid = "simulated-push-key"
const hour = 3600

/** What a push is about, and where it goes. */
export interface Address {
  readonly packageName: string
  readonly url: string | undefined
  readonly audience: string | undefined
}

/** The envelope of a developer notification, at a moment of the store's clock. */
export const write = ({ audience, packageName, url }: Address, what: object, now: number): Push => {
  const notification = { version: "1.0", packageName, eventTimeMillis: String(now), ...what }
  const messageId = String(BigInt(`0x${randomUUID().slice(0, 13).replace("-", "")}`))
  const data = Buffer.from(JSON.stringify(notification)).toString("base64")
  const publishTime = new Date(now).toISOString()
  const message = { data, messageId, message_id: messageId, publishTime, publish_time: publishTime }
  return {
    messageId,
    url,
    audience: audience ?? url ?? "",
    notification,
    body: { message, subscription: "projects/simulated/subscriptions/store-b" }
  }
}

/** Pushes as Pub/Sub does, with tokens of an issuer whose keys `jwks` publishes; they go by the wall's clock. */
export const makePushSender = Effect.fn("PushSender.make")(function* (options: { readonly email: string }) {
  const client = yield* HttpClient.HttpClient
  const keys = yield* Effect.promise(() => generateKeyPair("RS256", { extractable: true }))
  const jwk = yield* Effect.promise(() => exportJWK(keys.publicKey))

  const tokenFor = Effect.fn("PushSender.tokenFor")(function* (audience: string) {
    const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    return yield* Effect.promise(() =>
      new SignJWT({ email: options.email, email_verified: true, azp: "1", sub: "1" })
        .setProtectedHeader({ alg: "RS256", kid, typ: "JWT" })
        .setIssuer("https://accounts.google.com")
        .setAudience(audience)
        .setIssuedAt(now)
        .setExpirationTime(now + hour)
        .sign(keys.privateKey)
    )
  })

  const post = Effect.fn("PushSender.post")(function* ({ audience, body, url }: Push) {
    if (url === undefined) return { status: 0, body: "no address" } satisfies Receiver
    return yield* HttpClientRequest.post(url).pipe(
      HttpClientRequest.bearerToken(yield* tokenFor(audience)),
      HttpClientRequest.bodyUnsafeJson(body),
      client.execute,
      Effect.flatMap((response) => Effect.map(response.text, (text) => ({ status: response.status, body: text }))),
      Effect.timeout("30 seconds"),
      Effect.catchAll(() => Effect.succeed({ status: 0, body: "no answer" }))
    )
  })

  return { post, jwks: { keys: [{ ...jwk, kid, alg: "RS256", use: "sig" }] } } as const
})
