import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto"
import { Array, Context, Data, Effect, Layer, Redacted } from "effect"

/** A sealed value that no configured key opens, or that was moved to another record. */
export class Unsealable extends Data.TaggedError("Unsealable")<{ readonly recordId: string }> {}

/**
 * Encryption of secrets at rest (contract, part 2): AES-256-GCM with the id of the owning record as associated data.
 * The first key seals, every key opens, so a key is rotated by putting a new one in front.
 */
export class Seal extends Context.Tag("gatehouse/kit/Seal")<
  Seal,
  {
    readonly seal: (secret: Redacted.Redacted<string>, recordId: string) => Effect.Effect<string>
    readonly open: (sealed: string, recordId: string) => Effect.Effect<Redacted.Redacted<string>, Unsealable>
  }
>() {
  static readonly layer = (keys: Array.NonEmptyReadonlyArray<Redacted.Redacted<Buffer>>) =>
    Layer.sync(Seal, () => {
      const entries = Array.map(keys, (key) => ({ id: keyId(Redacted.value(key)), key: Redacted.value(key) }))
      const current = Array.headNonEmpty(entries)
      const byId = new Map(entries.map((entry) => [entry.id, entry.key]))
      return Seal.of({
        seal: (secret, recordId) =>
          Effect.sync(() => {
            const nonce = randomBytes(12)
            const cipher = createCipheriv("aes-256-gcm", current.key, nonce).setAAD(Buffer.from(recordId))
            const text = Buffer.concat([cipher.update(Redacted.value(secret), "utf8"), cipher.final()])
            return ["v1", current.id, nonce.toString("base64url"), encode(text, cipher.getAuthTag())].join(".")
          }),
        open: (sealed, recordId) => {
          const [version, id, nonce, body] = sealed.split(".")
          const key = id === undefined ? undefined : byId.get(id)
          if (version !== "v1" || key === undefined || nonce === undefined || body === undefined) {
            return unopened(sealed, recordId)
          }
          return Effect.try({
            try: () => {
              const bytes = Buffer.from(body, "base64url")
              const decipher = createDecipheriv("aes-256-gcm", key, Buffer.from(nonce, "base64url"))
                .setAAD(Buffer.from(recordId))
                .setAuthTag(bytes.subarray(-16))
              const text = Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()])
              return Redacted.make(text.toString("utf8"))
            },
            catch: () => new Unsealable({ recordId })
          })
        }
      })
    })
}

const keyId = (key: Buffer): string => createHash("sha256").update(key).digest("hex").slice(0, 8)

const encode = (text: Buffer, tag: Buffer): string => Buffer.concat([text, tag]).toString("base64url")

const unopened = (_sealed: string, recordId: string) => Effect.fail(new Unsealable({ recordId }))
