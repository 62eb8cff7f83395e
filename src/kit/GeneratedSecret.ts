import { randomBytes } from "node:crypto"
import { FileSystem, Path } from "@effect/platform"
import { Effect, Redacted } from "effect"

/**
 * A secret that the program makes on its first start: base64 of 32 random bytes in a file that only its owner may read.
 * Later starts read the same file, and two programs that start at once agree on one.
 */
export const generatedSecret = Effect.fn("generatedSecret")(function* (directory: string, name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(directory, name)
  yield* fs.makeDirectory(directory, { recursive: true })
  const isThere = yield* fs.exists(file)
  if (!isThere) {
    yield* fs.writeFileString(file, `${randomBytes(32).toString("base64")}\n`, { flag: "wx", mode: 0o600 }).pipe(
      Effect.catchIf(
        (error) => error._tag === "SystemError" && error.reason === "AlreadyExists",
        () => Effect.void
      )
    )
  }
  const text = yield* fs.readFileString(file)
  return Redacted.make(text.trim())
})
