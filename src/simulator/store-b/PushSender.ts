import { HttpClient, HttpClientRequest } from "@effect/platform"
import { randomUUID } from "node:crypto"
import { Clock, Effect, Option } from "effect"
import { exportJWK, generateKeyPair, SignJWT } from "jose"

/** A push as it was sent: what a repeat sends again. */
export interface Sent {
  readonly messageId: string
  readonly url: string | undefined
  readonly audience: string
  readonly notification: object
  readonly body: object
}

const kid = "simulated-push-key"
const hour = 3600

/** Pushes as Pub/Sub does, with tokens of an issuer whose keys `jwks` publishes. */
export const makePushSender = Effect.fn("PushSender.make")(function* (options: {
  readonly notificationUrl: Option.Option<string>
  readonly email: string
}) {
  const client = yield* HttpClient.HttpClient
  const keys = yield* Effect.promise(() => generateKeyPair("RS256", { extractable: true }))
  const jwk = yield* Effect.promise(() => exportJWK(keys.publicKey))
  const sent: Array<Sent> = []

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

  const deliver = Effect.fn("PushSender.deliver")(function* ({ audience, body, url }: Sent) {
    if (url === undefined) return null
    return yield* HttpClientRequest.post(url).pipe(
      HttpClientRequest.bearerToken(yield* tokenFor(audience)),
      HttpClientRequest.bodyUnsafeJson(body),
      client.execute,
      Effect.flatMap((response) => Effect.map(response.text, (text) => ({ status: response.status, body: text }))),
      Effect.timeout("30 seconds"),
      Effect.catchAll(() => Effect.succeed({ status: 0, body: "no answer" }))
    )
  })

  const send = Effect.fn("PushSender.send")(function* (
    packageName: string,
    what: object,
    place: { readonly notification_url: string | undefined; readonly push_audience: string | undefined }
  ) {
    const now = yield* Clock.currentTimeMillis
    const notification = { version: "1.0", packageName, eventTimeMillis: String(now), ...what }
    const messageId = String(BigInt(`0x${randomUUID().slice(0, 13).replace("-", "")}`))
    const url = place.notification_url ?? Option.getOrUndefined(options.notificationUrl)
    const data = Buffer.from(JSON.stringify(notification)).toString("base64")
    const publishTime = new Date(now).toISOString()
    const message = { data, messageId, message_id: messageId, publishTime, publish_time: publishTime }
    const push: Sent = {
      messageId,
      url,
      audience: place.push_audience ?? url ?? "",
      notification,
      body: { message, subscription: "projects/simulated/subscriptions/store-b" }
    }
    sent.push(push)
    return { push, receiver: yield* deliver(push) }
  })

  return { send, deliver, sent, jwks: { keys: [{ ...jwk, kid, alg: "RS256", use: "sig" }] } } as const
})
