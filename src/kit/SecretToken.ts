import { createHash, randomBytes } from "node:crypto"
import { crc32 } from "node:zlib"
import { Effect, Redacted } from "effect"

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const unbiasedBytes = 256 - (256 % alphabet.length)

const letter = (value: number) => alphabet.charAt(value % alphabet.length)

const randomBase62 = (length: number): string => {
  let text = ""
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < unbiasedBytes && text.length < length) text += letter(byte)
    }
  }
  return text
}

const checksum = (text: string): string => {
  let rest = crc32(text)
  let digits = ""
  for (let position = 0; position < 6; position++) {
    digits = letter(rest) + digits
    rest = Math.floor(rest / alphabet.length)
  }
  return digits
}

/** `prefix` + 43 random base62 characters + 6 of checksum: 256 bits that a scanner can recognise without a database. */
export const makeToken = (prefix: string): Effect.Effect<Redacted.Redacted<string>> =>
  Effect.sync(() => {
    const text = prefix + randomBase62(43)
    return Redacted.make(text + checksum(text))
  })

/** `prefix` + `length` random base62 characters, for keys that are public by design and so carry no checksum. */
export const makePublicKey = (prefix: string, length: number): Effect.Effect<string> =>
  Effect.sync(() => prefix + randomBase62(length))

/** Refuses mistyped and foreign tokens before any look-up. */
export const isWellFormed = (prefix: string, token: Redacted.Redacted<string>): boolean => {
  const text = Redacted.value(token)
  return text.length === prefix.length + 49 && text.startsWith(prefix) && checksum(text.slice(0, -6)) === text.slice(-6)
}

/** The form in which tokens are stored: lowercase hex SHA-256. */
export const digest = (token: Redacted.Redacted<string>): string =>
  createHash("sha256").update(Redacted.value(token)).digest("hex")
