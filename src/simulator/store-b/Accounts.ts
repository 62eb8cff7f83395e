import { HttpServerRequest, UrlParams } from "@effect/platform"
import { randomUUID } from "node:crypto"
import { Clock, Effect } from "effect"
import { exportPKCS8, generateKeyPair, jwtVerify } from "jose"
import { json } from "../SimulatorServer.ts"

const email = "gatehouse@simulated.iam.gserviceaccount.com"
const lifetime = 3600

/** The one service account that the simulator knows, and the tokens that it gave out for its signed assertions. */
export const makeAccounts = Effect.fn("Accounts.make")(function* (tokenUri: () => string) {
  const keys = yield* Effect.promise(() => generateKeyPair("RS256", { extractable: true }))
  const privateKey = yield* Effect.promise(() => exportPKCS8(keys.privateKey))
  const ends = new Map<string, number>()

  const token = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const form: Record<string, unknown> = UrlParams.toRecord(yield* Effect.orDie(request.urlParamsBody))
    const now = yield* Clock.currentTimeMillis
    const isGenuine = yield* Effect.promise(() =>
      jwtVerify(String(form["assertion"]), keys.publicKey, {
        algorithms: ["RS256"],
        issuer: email,
        audience: tokenUri(),
        currentDate: new Date(now)
      }).then(
        ({ payload }) => payload["scope"] === "https://www.googleapis.com/auth/androidpublisher",
        () => false
      )
    )
    if (!isGenuine) return json({ error: "invalid_grant", error_description: "Invalid JWT Signature." }, 400)
    const access_token = `ya29.${randomUUID()}`
    ends.set(access_token, now + lifetime * 1000)
    return json({ access_token, expires_in: lifetime, token_type: "Bearer" })
  })

  const isSignedIn = Effect.gen(function* () {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const end = ends.get((headers["authorization"] ?? "").replace(/^Bearer /, ""))
    return end !== undefined && end > (yield* Clock.currentTimeMillis)
  })

  return {
    token,
    isSignedIn,
    email,
    /** Its file, as the store's console hands it out. */
    file: () => ({
      type: "service_account",
      project_id: "simulated",
      private_key_id: "simulated",
      private_key: privateKey,
      client_email: email,
      token_uri: tokenUri()
    })
  } as const
})
