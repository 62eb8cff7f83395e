import { type Array, Effect, Option, Redacted } from "effect"
import type { Settings } from "../Config.ts"
import { generatedSecret } from "../kit/GeneratedSecret.ts"

export interface Secrets {
  readonly encryptionKeys: Array.NonEmptyReadonlyArray<Redacted.Redacted<Buffer>>
  readonly adminJwtSecret: Redacted.Redacted<string>
}

/** The two secrets of the program: as set, else made on the first start and kept in `DATA_DIR`. */
export const secretsOf = Effect.fn("secretsOf")(function* (settings: Settings) {
  const encryptionKeys = Option.isSome(settings.encryptionKeys)
    ? settings.encryptionKeys.value
    : yield* Effect.map(
        generatedSecret(settings.dataDir, "encryption.key"),
        (key) => [Redacted.make(Buffer.from(Redacted.value(key), "base64"))] as const
      )
  const adminJwtSecret = Option.isSome(settings.adminJwtSecret)
    ? settings.adminJwtSecret.value
    : yield* generatedSecret(settings.dataDir, "admin-jwt.secret")
  return { encryptionKeys, adminJwtSecret } satisfies Secrets
})
