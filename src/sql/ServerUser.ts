import { FileSystem } from "@effect/platform"
import { Array, Effect, Option } from "effect"
import { dirname } from "node:path"

/** PostgreSQL refuses to run as root: whom a program that is root runs it as. An ordinary user runs it as itself. */
export interface ServerUser {
  readonly uid: number
  readonly gid: number
}

const read = 0o4
const search = 0o1

const grants = (info: FileSystem.File.Info, user: ServerUser, right: number): boolean => {
  if (Option.contains(info.uid, user.uid)) return (info.mode & (right << 6)) !== 0
  if (Option.contains(info.gid, user.gid)) return (info.mode & (right << 3)) !== 0
  return (info.mode & right) !== 0
}

const ancestors = (path: string): ReadonlyArray<string> =>
  Array.unfold(path, (at) => (dirname(at) === at ? Option.none() : Option.some([dirname(at), dirname(at)])))

const granted = Effect.fn("ServerUser.granted")(function* (path: string, user: ServerUser, right: number) {
  const fs = yield* FileSystem.FileSystem
  return grants(yield* fs.stat(path), user, right)
})

/** Whether the user may enter this directory: it and all above it must be searchable. */
export const mayEnter = (directory: string, user: ServerUser) =>
  Effect.every([directory, ...ancestors(directory)], (path) => granted(path, user, search))

/** Whether the user may read (or, for a program, run) this file. */
export const mayRead = Effect.fn("ServerUser.mayRead")(function* (file: string, user: ServerUser) {
  return (yield* mayEnter(dirname(file), user)) && (yield* granted(file, user, read))
})

const usualNobody: ServerUser = { uid: 65_534, gid: 65_534 }

const nobodyIn = (passwd: string): Option.Option<ServerUser> =>
  Array.findFirst(passwd.split("\n"), (line) => line.startsWith("nobody:")).pipe(
    Option.map((line) => line.split(":").slice(2, 4).map(Number)),
    Option.flatMap(([uid, gid]) => (uid === undefined || gid === undefined ? Option.none() : Option.some({ uid, gid })))
  )

export const nobody = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const passwd = yield* Effect.option(fs.readFileString("/etc/passwd"))
  return Option.getOrElse(Option.flatMap(passwd, nobodyIn), () => usualNobody)
})

/** The user that the program itself is; absent where the system has no such numbers. */
export const self: Effect.Effect<Option.Option<ServerUser>> = Effect.sync(() =>
  Option.all({
    uid: Option.fromNullable(process.geteuid?.()),
    gid: Option.fromNullable(process.getegid?.())
  })
)
