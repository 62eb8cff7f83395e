import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto"
import { Effect, Option, Schema } from "effect"
import { jwtVerify } from "jose"
import { act, ControlRefused, type ControlRoute, look } from "../Control.ts"

/** A key of the Server API, as the store's console hands it out; without a private key the simulator makes one. */
const NewKey = Schema.Struct({
  issuer_id: Schema.optionalWith(Schema.NonEmptyString, { default: () => "57246542-96fe-1a63-e053-0824d011072a" }),
  key_id: Schema.optionalWith(Schema.NonEmptyString, { default: () => "SIMULATED1" }),
  bundle_id: Schema.NonEmptyString,
  private_key: Schema.optional(Schema.NonEmptyString)
})

const freshKey = () => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString()
}

interface Key {
  readonly issuerId: string
  readonly bundleId: string
  readonly publicKey: KeyObject
}

const longestToken = 3600

/** The keys that the store knows, and whom a bearer token speaks for. */
export const makeKeys = () => {
  const keys = new Map<string, Key>()

  const routes: ReadonlyArray<ControlRoute> = [
    act("POST", "/keys", "Makes a key of the Server API known; answers with it if it is new", NewKey, (key) => {
      const { bundle_id, issuer_id, key_id, private_key = freshKey() } = key
      return Effect.try({
        try: () => createPublicKey(private_key),
        catch: () => new ControlRefused({ status: 422, message: "private_key must be a PEM of PKCS#8, P-256" })
      }).pipe(
        Effect.map((publicKey) => {
          keys.set(key_id, { issuerId: issuer_id, bundleId: bundle_id, publicKey })
          return { issuer_id, key_id, bundle_id, ...(key.private_key === undefined ? { private_key } : {}) }
        })
      )
    }),
    look("DELETE", "/keys/:id", "Takes a key back", ({ id = "" }) => Effect.sync(() => ({ deleted: keys.delete(id) })))
  ]

  /** The bundle id that a token was signed for, if it is one that the store lets in. */
  const bundleOf = (authorization: string | undefined) =>
    Effect.tryPromise(async () => {
      const token = authorization?.replace(/^Bearer /, "") ?? ""
      const { payload, protectedHeader } = await jwtVerify(
        token,
        ({ kid }) => {
          const key = keys.get(kid ?? "")
          return key === undefined ? Promise.reject(new Error("unknown key")) : key.publicKey
        },
        { algorithms: ["ES256"], audience: "appstoreconnect-v1", requiredClaims: ["iat", "exp", "iss", "bid"] }
      )
      const key = keys.get(protectedHeader.kid ?? "")
      const life = (payload.exp ?? Infinity) - (payload.iat ?? 0)
      const isKnown = key?.bundleId === payload["bid"] && key?.issuerId === payload.iss
      return isKnown && life <= longestToken ? Option.some(String(payload["bid"])) : Option.none<string>()
    }).pipe(Effect.orElseSucceed(() => Option.none<string>()))

  return { routes, bundleOf } as const
}
