import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Effect, Option, Schedule } from "effect"
import { basename, dirname, join, resolve } from "node:path"
import { EmbeddedPostgresFailed } from "./EmbeddedPostgresFailed.ts"
import { mayEnter, nobody, self } from "./ServerUser.ts"
import type { ServerUser } from "./ServerUser.ts"
import * as SocketDirectory from "./SocketDirectory.ts"

/** Where the embedded server keeps its things. */
export interface DataDirectory {
  /** `DATA_DIR`, absolute. */
  readonly home: string
  /** The server's own directory, mode 0700, after links. */
  readonly server: string
  readonly cluster: string
  readonly socket: string
  readonly log: string
  /** Set when the program is root: the server runs as this user. */
  readonly user: Option.Option<ServerUser>
  /** Whether that user could not reach `DATA_DIR`, so that `server` lies outside it. */
  readonly isElsewhere: boolean
  /** Where a reachable copy of the binaries may be put. */
  readonly binaries: string
}

const reachableHome = "/var/lib/gatehouse"

const give = Effect.fn("DataDirectory.give")(function* (directory: string, user: ServerUser) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.chmod(directory, 0o700)
  yield* fs.chown(directory, user.uid, user.gid)
})

/** Everyone may pass through what root makes: its files have mode 0600, and the server's user has to get by. */
const makeHome = Effect.fn("DataDirectory.makeHome")(function* (home: string, root: boolean) {
  const fs = yield* FileSystem.FileSystem
  if (yield* fs.exists(home)) return
  yield* fs.makeDirectory(home, { recursive: true })
  yield* fs.chmod(home, root ? 0o711 : 0o700)
})

const makeReachable = (
  home: string,
  attempt = 1
): Effect.Effect<string, EmbeddedPostgresFailed, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const shortName = basename(home)
      .replaceAll(/[^\w.-]/g, "")
      .slice(0, 32)
    const name = `${shortName}-${SocketDirectory.fingerprint(home)}`
    const directory = join(reachableHome, attempt === 1 ? name : `${name}-${attempt}`)
    yield* fs.makeDirectory(reachableHome, { recursive: true, mode: 0o755 })
    yield* fs.makeDirectory(directory)
    return directory
  }).pipe(
    Effect.catchIf(
      (error) => error._tag === "SystemError" && error.reason === "AlreadyExists" && attempt < 100,
      () => makeReachable(home, attempt + 1)
    ),
    Effect.mapError((error) =>
      error._tag === "EmbeddedPostgresFailed"
        ? error
        : new EmbeddedPostgresFailed({
            message: `PostgreSQL may not run as root, and an unprivileged user reaches neither ${home} nor ${reachableHome}: choose another DATA_DIR or set DATABASE_URL`
          })
    )
  )

const giveAll = Effect.fn("DataDirectory.giveAll")(function* (directory: string, user: ServerUser) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* fs.readDirectory(directory, { recursive: true })
  yield* Effect.forEach([".", ...paths], (path) => fs.chown(join(directory, path), user.uid, user.gid), {
    discard: true
  })
})

/** An existing directory keeps its owner, so that root and that user can take turns; only root's own is given away. */
const adoptForRoot = Effect.fn("DataDirectory.adoptForRoot")(function* (link: string) {
  const fs = yield* FileSystem.FileSystem
  const server = yield* Effect.mapError(
    fs.realPath(link),
    () =>
      new EmbeddedPostgresFailed({
        message: `${link} leads to a database that is gone: bring it back, or remove the link to begin with an empty one`
      })
  )
  const { gid, uid } = yield* fs.stat(server)
  const unprivileged = Option.filter(Option.all({ uid, gid }), ({ uid }) => uid !== 0)
  const user = Option.isSome(unprivileged) ? unprivileged.value : yield* nobody
  if (Option.isNone(unprivileged)) yield* giveAll(server, user)
  if (!(yield* mayEnter(server, user))) {
    return yield* new EmbeddedPostgresFailed({
      message: `PostgreSQL may not run as root, and user ${user.uid} cannot reach ${server}: move DATA_DIR to a place that other users may enter, or set DATABASE_URL`
    })
  }
  return { server, user: Option.some(user) }
})

const createForRoot = Effect.fn("DataDirectory.createForRoot")(function* (home: string, link: string) {
  const fs = yield* FileSystem.FileSystem
  const user = yield* nobody
  if (yield* mayEnter(yield* fs.realPath(home), user)) {
    yield* fs.makeDirectory(link, { recursive: true })
    yield* give(link, user)
    return { server: yield* fs.realPath(link), user: Option.some(user) }
  }
  const server = yield* makeReachable(home)
  yield* give(server, user)
  yield* Effect.tapError(fs.symlink(server, link), () => fs.remove(server))
  return { server, user: Option.some(user) }
})

const prepareForRoot = Effect.fn("DataDirectory.prepareForRoot")(function* (home: string, link: string) {
  const fs = yield* FileSystem.FileSystem
  const isThere = (yield* Effect.isSuccess(fs.readLink(link))) || (yield* fs.exists(link))
  return yield* isThere ? adoptForRoot(link) : createForRoot(home, link)
})

/** Another program does the same at the same time: what was missing is there now, or the other way round. */
const metAnother = (error: EmbeddedPostgresFailed | PlatformError) =>
  error._tag === "SystemError" && (error.reason === "AlreadyExists" || error.reason === "NotFound")
const shortly = Schedule.spaced("50 millis").pipe(Schedule.intersect(Schedule.recurs(5)))

const createOwn = Effect.fn("DataDirectory.createOwn")(function* (link: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(link, { recursive: true, mode: 0o700 })
  return { server: yield* fs.realPath(link), user: Option.none<ServerUser>() }
})

/**
 * Finds or makes the server's directory under `DATA_DIR`. A program that is root gives it to an unprivileged user; where
 * that user cannot reach `DATA_DIR` (under a home of mode 0700, say) `DATA_DIR/postgres` is a link to a directory that
 * it can reach, chosen once: an emptied `DATA_DIR` never meets an earlier one's database.
 */
export const locate = Effect.fn("DataDirectory.locate")(function* (dataDir: string) {
  const fs = yield* FileSystem.FileSystem
  const home = resolve(dataDir)
  const link = join(home, "postgres")
  const isRoot = Option.exists(yield* self, ({ uid }) => uid === 0)
  yield* makeHome(home, isRoot)
  const { server, user } = isRoot
    ? yield* Effect.retry(prepareForRoot(home, link), { while: metAnother, schedule: shortly })
    : yield* createOwn(link)
  const directory: DataDirectory = {
    home,
    server,
    cluster: join(server, "cluster"),
    socket: yield* SocketDirectory.choose(server, user),
    log: join(home, "postgres.log"),
    user,
    isElsewhere: dirname(server) !== (yield* fs.realPath(home)),
    binaries: isRoot ? reachableHome : home
  }
  return directory
})
