import { constants, createDecipheriv, generateKeyPairSync, privateDecrypt } from "node:crypto"

const keyId = 41

/** The platform's side of the sealed password: hands out its key and opens what was sealed with it. */
export const makePasswordBox = () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
  const pem = publicKey.export({ type: "spki", format: "pem" }).toString()

  /** The runtime refuses PKCS#1 v1.5 on private keys, so the padding is taken off by hand. */
  const unwrap = (wrapped: Buffer): Buffer => {
    const padded = privateDecrypt({ key: privateKey, padding: constants.RSA_NO_PADDING }, wrapped)
    return padded.subarray(padded.indexOf(0, 2) + 1)
  }

  return {
    headers: {
      "ig-set-password-encryption-key-id": String(keyId),
      "ig-set-password-encryption-pub-key": Buffer.from(pem).toString("base64")
    },
    /** Null for anything that was not sealed for this box. */
    open: (sealed: string): string | null => {
      const [, version, time = "", base64 = ""] = sealed.split(":")
      if (version !== "4") return null
      const bytes = Buffer.from(base64, "base64")
      const length = bytes.readUInt16LE(14)
      const tagAt = 16 + length
      const decipher = createDecipheriv("aes-256-gcm", unwrap(bytes.subarray(16, tagAt)), bytes.subarray(2, 14))
        .setAAD(Buffer.from(time))
        .setAuthTag(bytes.subarray(tagAt, tagAt + 16))
      return Buffer.concat([decipher.update(bytes.subarray(tagAt + 16)), decipher.final()]).toString("utf8")
    }
  }
}
