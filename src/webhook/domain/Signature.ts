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

/** What Standard Webhooks 1.0 signs: its three headers are `webhook-id`, `webhook-timestamp`, `webhook-signature`. */
export interface StandardMessage {
  readonly id: string
  /** Seconds since the epoch. */
  readonly timestamp: number
  readonly rawBody: string
}

/**
 * `webhook-signature` of Standard Webhooks 1.0: `v1,` and the base64 HMAC-SHA256 over `id.timestamp.body`, keyed with
 * the bytes that follow `whsec_`.
 */
export const signStandard = (
  secret: Redacted.Redacted<string>,
  { id, rawBody, timestamp }: StandardMessage
): string => {
  const key = Buffer.from(Redacted.value(secret).slice(secretPrefix.length), "base64")
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${rawBody}`, "utf8").digest("base64")}`
}

/** `header` is a space-separated list of signatures, of which one has to be right. */
export const verifyStandard = (
  secret: Redacted.Redacted<string>,
  message: StandardMessage,
  header: string
): boolean => {
  const expected = signStandard(secret, message)
  return header.split(" ").some((signature) => equal(expected, signature))
}

/** `whsec_` and the base64 of 32 random bytes. */
export const secretOf = (random: Uint8Array): Redacted.Redacted<string> =>
  Redacted.make(secretPrefix + Buffer.from(random).toString("base64"))
