import { constants, createCipheriv, publicEncrypt, randomBytes } from "node:crypto"
import { Redacted } from "effect"

/**
 * The platform's sealed form of a password, version 4: a random AES-256-GCM key, itself encrypted with the platform's
 * RSA key, and the password under it with the time (seconds since the epoch) as associated data.
 */
export const encryptPassword = (
  password: Redacted.Redacted<string>,
  key: { readonly id: number; readonly publicKey: string },
  seconds: number
): string => {
  const time = String(seconds)
  const secret = randomBytes(32)
  const nonce = randomBytes(12)
  const wrapped = publicEncrypt({ key: key.publicKey, padding: constants.RSA_PKCS1_PADDING }, secret)
  const cipher = createCipheriv("aes-256-gcm", secret, nonce).setAAD(Buffer.from(time))
  const text = Buffer.concat([cipher.update(Redacted.value(password), "utf8"), cipher.final()])
  const length = Buffer.alloc(2)
  length.writeUInt16LE(wrapped.length)
  const bytes = Buffer.concat([Buffer.from([1, key.id]), nonce, length, wrapped, cipher.getAuthTag(), text])
  return `#PWD_INSTAGRAM:4:${time}:${bytes.toString("base64")}`
}
