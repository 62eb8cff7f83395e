import { FileSystem } from "@effect/platform"
import { Array, Effect, Option, Ref, Schedule } from "effect"
import type { ChildProcess } from "node:child_process"
import { join } from "node:path"
import type { DataDirectory } from "./DataDirectory.ts"
import { EmbeddedPostgresFailed } from "./EmbeddedPostgresFailed.ts"
import type { PostgresBinaries } from "./PostgresBinaries.ts"
import { majorOf, program } from "./PostgresBinaries.ts"
import * as Postmaster from "./Postmaster.ts"
import { superuser } from "./ServerGuard.ts"
import { isRunning, launch, run, signal } from "./ServerProcess.ts"

export interface PostgresServerOptions {
  readonly home: DataDirectory
  readonly binaries: PostgresBinaries
  readonly maxConnections: number
  readonly durable: boolean
}

/** For the guard, the operator's psql, LISTEN, and the three that PostgreSQL reserves. */
const spareConnections = 20
const partialPrefix = "initdb-"
const largestLog = 16 * 1024 * 1024

const fast = ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0"]

const quoted = (path: string) => `"${path.replaceAll('"', '""')}"`

/** Statements and their values stay out of the server's log: they hold what callers wrote. */
const settings = ({ home, maxConnections, durable }: PostgresServerOptions): ReadonlyArray<string> => [
  "listen_addresses=",
  `unix_socket_directories=${quoted(home.socket)}`,
  "unix_socket_permissions=0700",
  "port=5432",
  `max_connections=${maxConnections + spareConnections}`,
  "log_min_messages=log",
  "log_min_error_statement=panic",
  "log_error_verbosity=terse",
  "log_checkpoints=off",
  "timezone=UTC",
  "log_timezone=UTC",
  "cluster_name=gatehouse",
  ...(durable ? [] : fast)
]

const initdbArguments = (directory: string, durable: boolean): ReadonlyArray<string> => [
  `--pgdata=${directory}`,
  `--username=${superuser}`,
  "--auth-local=trust",
  "--auth-host=reject",
  "--encoding=UTF8",
  "--locale=C",
  "--locale-provider=builtin",
  "--builtin-locale=C.UTF-8",
  "--no-instructions",
  ...(durable ? [] : ["--no-sync"])
]

const lastLine = (text: string): string => {
  const lines = Array.filter(text.split("\n"), (line) => line.trim() !== "")
  const fatal = Array.findLast(lines, (line) => /(FATAL|PANIC|error):/.test(line))
  return Option.getOrElse(fatal, () => lines.at(-1) ?? "it said nothing").replace(/^.*?(FATAL|PANIC|error): */, "")
}

/** One cluster's server process: made, started, found again and stopped. Whose it is, `EmbeddedPostgres` decides. */
export const make = Effect.fn("PostgresServer.make")(function* (options: PostgresServerOptions) {
  const fs = yield* FileSystem.FileSystem
  const { binaries, durable, home } = options
  const child = yield* Ref.make(Option.none<ChildProcess>())
  const pidFile = join(home.cluster, "postmaster.pid")
  const failed = (message: string) => new EmbeddedPostgresFailed({ message })
  const surroundings = {
    cwd: home.server,
    env: { LC_ALL: "C" },
    ...Option.getOrElse(home.user, () => ({}))
  }

  const cannotRun = ({ code, message }: { readonly code: string; readonly message: string }) =>
    failed(
      code === "ENOENT"
        ? "the embedded PostgreSQL cannot run on this system, it needs glibc: set DATABASE_URL to a PostgreSQL server"
        : `the embedded PostgreSQL cannot be run: ${message}`
    )

  const removeAbandoned = Effect.gen(function* () {
    const names = Array.filter(yield* fs.readDirectory(home.server), (name) => name.startsWith(partialPrefix))
    const abandoned = yield* Effect.filter(names, (name) =>
      Effect.map(signal(Number(name.slice(partialPrefix.length)), 0), (alive) => !alive)
    )
    yield* Effect.forEach(abandoned, (name) => fs.remove(join(home.server, name), { recursive: true }), {
      discard: true
    })
  })

  /** In one rename, so that a crash half-way, or another program that does the same, leaves no half of a cluster. */
  const initialise = Effect.gen(function* () {
    if (yield* fs.exists(home.cluster)) return
    yield* removeAbandoned
    const partial = join(home.server, `${partialPrefix}${process.pid}`)
    yield* fs.remove(partial, { recursive: true, force: true })
    const { exitCode, output } = yield* run(
      program(binaries, "initdb"),
      initdbArguments(partial, durable),
      surroundings
    ).pipe(Effect.mapError(cannotRun))
    if (exitCode !== 0) return yield* failed(`the embedded database cannot be made: ${lastLine(output)}`)
    yield* Effect.catchAll(fs.rename(partial, home.cluster), () => fs.remove(partial, { recursive: true }))
  })

  const checkVersion = Effect.gen(function* () {
    const version = (yield* fs.readFileString(join(home.cluster, "PG_VERSION"))).trim()
    if (version !== majorOf(binaries)) {
      return yield* failed(
        `${home.cluster} belongs to PostgreSQL ${version}, this program carries ${majorOf(binaries)}: dump it with the program that made it and restore it into a new DATA_DIR`
      )
    }
  })

  /** A process id may have been given to another program since; where the system does not tell, it is believed. */
  const isServerOf = Effect.fnUntraced(function* ({ cluster, pid }: Postmaster.Postmaster) {
    if (!(yield* signal(pid, 0))) return false
    const commandLine = yield* fs.readFileString(`/proc/${pid}/cmdline`).pipe(
      Effect.orElse(() =>
        run("ps", ["-o", "args=", "-p", String(pid)], {}).pipe(
          Effect.filterOrFail(({ exitCode }) => exitCode === 0),
          Effect.map(({ output }) => output)
        )
      ),
      Effect.option
    )
    return Option.match(commandLine, { onNone: () => true, onSome: (line) => line.includes(cluster) })
  })

  const live = Effect.gen(function* () {
    const text = yield* Effect.option(fs.readFileString(pidFile))
    const found = Option.flatMap(text, Postmaster.parse)
    if (Option.isNone(found)) return found
    if (yield* isServerOf(found.value)) return found
    yield* fs.remove(pidFile, { force: true })
    return Option.none<Postmaster.Postmaster>()
  })

  const isOurChildRunning = Effect.map(Ref.get(child), Option.exists(isRunning))

  const rotateLog = Effect.gen(function* () {
    const info = yield* Effect.option(fs.stat(home.log))
    if (Option.exists(info, ({ size }) => size > largestLog)) yield* fs.rename(home.log, `${home.log}.1`)
  })

  const start = Effect.gen(function* () {
    yield* rotateLog
    const log = yield* fs.open(home.log, { flag: "a", mode: 0o600 })
    const args = ["-D", home.cluster, ...Array.flatMap(settings(options), (setting) => ["-c", setting])]
    const started = yield* launch(program(binaries, "postgres"), args, {
      ...surroundings,
      stdio: ["ignore", log.fd, log.fd]
    }).pipe(Effect.mapError(cannotRun))
    yield* Ref.set(child, Option.some(started))
  }).pipe(Effect.scoped, Effect.uninterruptible)

  const isGone = Effect.gen(function* () {
    return Option.isNone(yield* live) && !(yield* isOurChildRunning)
  })

  const tell = Effect.fnUntraced(function* (name: NodeJS.Signals) {
    const server = Option.map(yield* live, ({ pid }) => pid)
    const started = Option.flatMap(Option.filter(yield* Ref.get(child), isRunning), ({ pid }) =>
      Option.fromNullable(pid)
    )
    const pids = Option.toArray(Option.orElse(server, () => started))
    yield* Effect.forEach(pids, (pid) => signal(pid, name), { discard: true })
    return yield* Effect.repeat(isGone, {
      until: (gone) => gone,
      schedule: Schedule.spaced("25 millis").pipe(Schedule.upTo("10 seconds"))
    })
  })

  /** Fast shutdown: open transactions are rolled back, everything committed is on disk. */
  const stop = Effect.gen(function* () {
    if (yield* isGone) return
    yield* tell("SIGINT")
    if (yield* isGone) return
    yield* Effect.logWarning("the embedded database does not stop, ending it at once")
    yield* tell("SIGQUIT")
  })

  const lastWords = Effect.map(
    Effect.option(fs.readFileString(home.log)),
    Option.match({ onNone: () => "it left no log", onSome: lastLine })
  )

  return { checkVersion, initialise, isOurChildRunning, lastWords, live, start, stop }
})
