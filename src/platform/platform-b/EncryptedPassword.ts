import { constants, createCipheriv, createPublicKey, type KeyObject, publicEncrypt, randomBytes } from "node:crypto"
import { Option, Redacted } from "effect"

export interface PasswordKey {
  readonly id: number
  readonly publicKey: KeyObject
}

/** The key that the platform hands out in headers: a number that fits a byte, and an RSA key as base64 of PEM. */
export const passwordKey = (id: string | undefined, base64: string | undefined): Option.Option<PasswordKey> =>
  Option.filter(
    Option.liftThrowable((pem: string) => ({ id: Number(id), publicKey: createPublicKey(pem) }))(
      Buffer.from(base64 ?? "", "base64").toString("utf8")
    ),
    (key) => Number.isInteger(key.id) && key.id >= 0 && key.id < 256 && key.publicKey.asymmetricKeyType === "rsa"
  )

/**
 * The platform's sealed form of a password, version 4: a random AES-256-GCM key, itself encrypted with the platform's
 * RSA key, and the password under it with the time (seconds since the epoch) as associated data.
 */
export const encryptPassword = (password: Redacted.Redacted<string>, key: PasswordKey, seconds: number): string => {
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
