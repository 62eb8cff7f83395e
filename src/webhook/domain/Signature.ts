import { createHmac, timingSafeEqual } from "node:crypto"
import { Redacted } from "effect"

const secretPrefix = "whsec_"

const equal = (left: string, right: string): boolean => {
  const expected = Buffer.from(left)
  const actual = Buffer.from(right)
  return expected.length === actual.length && timingSafeEqual(expected, actual)
}

/**
 * `X-Webhook-Signature` (gateway specification, part 6, "Delivery"): `sha256=` and the lowercase hex HMAC-SHA256 of the
 * exact body, keyed with the whole secret as it was shown.
 */
export const sign = (secret: Redacted.Redacted<string>, rawBody: string): string =>
  `sha256=${createHmac("sha256", Redacted.value(secret)).update(rawBody, "utf8").digest("hex")}`

export const verify = (secret: Redacted.Redacted<string>, rawBody: string, header: string): boolean =>
  equal(sign(secret, rawBody), header)

/**
 * `webhook-signature` of Standard Webhooks 1.0: `v1,` and the base64 HMAC-SHA256 over `id.timestamp.body`, keyed with
 * the bytes that follow `whsec_`. `timestamp` is in seconds since the epoch.
 */
export const signStandard = (
  secret: Redacted.Redacted<string>,
  id: string,
  timestamp: number,
  rawBody: string
): string => {
  const key = Buffer.from(Redacted.value(secret).slice(secretPrefix.length), "base64")
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${rawBody}`, "utf8").digest("base64")}`
}

/** `whsec_` and the base64 of 32 random bytes. */
export const secretOf = (random: Uint8Array): Redacted.Redacted<string> =>
  Redacted.make(secretPrefix + Buffer.from(random).toString("base64"))
