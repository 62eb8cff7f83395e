import { FileSystem } from "@effect/platform"
import { Array, Effect, Option } from "effect"
import { createHash } from "node:crypto"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { EmbeddedPostgresFailed } from "./EmbeddedPostgresFailed.ts"
import { mayEnter, self } from "./ServerUser.ts"
import type { ServerUser } from "./ServerUser.ts"

const longestPath = 100

const fits = (directory: string) => Buffer.byteLength(join(directory, ".s.PGSQL.5432")) <= longestPath

export const fingerprint = (path: string) => createHash("sha256").update(path).digest("hex").slice(0, 12)

/** The system's temporary directory is everyone's: what stands there already must be the server's alone. */
const short = Effect.fn("SocketDirectory.short")(function* (server: string, user: Option.Option<ServerUser>) {
  const fs = yield* FileSystem.FileSystem
  const parents = yield* Effect.filter([tmpdir(), "/tmp"], (parent) =>
    Option.match(user, { onNone: () => fs.exists(parent), onSome: (user) => mayEnter(parent, user) })
  )
  const directory = Array.findFirst(
    Array.map(parents, (parent) => join(parent, `gatehouse-${fingerprint(server)}`)),
    fits
  )
  if (Option.isNone(directory)) {
    return yield* new EmbeddedPostgresFailed({
      message: `${server} is too long a path for a Unix socket: choose another DATA_DIR`
    })
  }
  const path = directory.value
  const isNew = yield* Effect.isSuccess(fs.makeDirectory(path, { mode: 0o700 }))
  if (isNew && Option.isSome(user)) yield* fs.chown(path, user.value.uid, user.value.gid)
  const owner = Option.isSome(user) ? user : yield* self
  const { mode, uid } = yield* fs.stat(path)
  const isOurs = Option.exists(owner, (owner) => Option.contains(uid, owner.uid)) && (mode & 0o077) === 0
  if (!isOurs || (yield* Effect.isSuccess(fs.readLink(path)))) {
    return yield* new EmbeddedPostgresFailed({
      message: `${path}, where the database's socket has to be, belongs to someone else: remove it, or choose a shorter DATA_DIR`
    })
  }
  return path
})

/**
 * Where the server's socket goes: into its own directory, or, because the system limits a socket's path to some hundred
 * bytes, into one under the temporary directory that is named after it.
 */
export const choose = (server: string, user: Option.Option<ServerUser>) =>
  fits(server) ? Effect.succeed(server) : short(server, user)
