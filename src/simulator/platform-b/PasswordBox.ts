import { constants, createDecipheriv, generateKeyPairSync, privateDecrypt } from "node:crypto"
import { Option } from "effect"

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

  const opened = Option.liftThrowable((time: string, bytes: Buffer) => {
    const length = bytes.readUInt16LE(14)
    const tagAt = 16 + length
    const decipher = createDecipheriv("aes-256-gcm", unwrap(bytes.subarray(16, tagAt)), bytes.subarray(2, 14))
      .setAAD(Buffer.from(time))
      .setAuthTag(bytes.subarray(tagAt, tagAt + 16))
    return Buffer.concat([decipher.update(bytes.subarray(tagAt + 16)), decipher.final()]).toString("utf8")
  })

  return {
    headers: {
      "ig-set-password-encryption-key-id": String(keyId),
      "ig-set-password-encryption-pub-key": Buffer.from(pem).toString("base64")
    },
    /** None for anything that was not sealed for this box. */
    open: (sealed: string): Option.Option<string> => {
      const [name, version, time = "", base64 = ""] = sealed.split(":")
      const bytes = Buffer.from(base64, "base64")
      const isOurs = name === "#PWD_INSTAGRAM" && version === "4" && bytes[0] === 1 && bytes[1] === keyId
      return isOurs ? opened(time, bytes) : Option.none()
    }
  }
}
