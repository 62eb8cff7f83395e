import type { PlatformError } from "@effect/platform/Error"
import { NodeFileSystem } from "@effect/platform-node"
import { Data, Effect, Layer, Option, Redacted, Ref, Schedule } from "effect"
import { supervise } from "../kit/Supervise.ts"
import * as DataDirectory from "./DataDirectory.ts"
import { DatabaseAddress } from "./Database.ts"
import { EmbeddedPostgresFailed } from "./EmbeddedPostgresFailed.ts"
import * as PostgresBinaries from "./PostgresBinaries.ts"
import * as PostgresServer from "./PostgresServer.ts"
import type { Postmaster } from "./Postmaster.ts"
import { attach, database, NotYet, superuser } from "./ServerGuard.ts"
import type { ServerGuard } from "./ServerGuard.ts"

export interface EmbeddedPostgresOptions {
  /** `DATA_DIR`. Made when it is missing. */
  readonly dataDir: string
  readonly maxConnections: number
  /** `false` gives up safety against a power cut and a crash of the server for speed: tests. */
  readonly durable?: boolean
  /** A short-lived command: where another program runs this database it visits, instead of refusing to start. */
  readonly visitor?: boolean
}

class ServerLost extends Data.TaggedError("ServerLost")<{ readonly message: string }> {}

const starts = 5
const recovery = Schedule.spaced("40 millis").pipe(Schedule.upTo("5 minutes"))

/** Host and port in the URL proper only make it a valid one: the directory in `host` is what counts. */
const urlOf = ({ port, socket }: Postmaster) =>
  `postgresql://${superuser}@localhost:${port}/${database}?host=${encodeURIComponent(socket)}&sslmode=disable`

const start = Effect.fn("EmbeddedPostgres.start")(function* (options: EmbeddedPostgresOptions) {
  const home = yield* DataDirectory.locate(options.dataDir)
  const binaries = yield* PostgresBinaries.prepare(home)
  const durable = options.durable ?? true
  const server = yield* PostgresServer.make({ home, binaries, maxConnections: options.maxConnections, durable })
  const isVisitor = options.visitor === true
  const current = yield* Ref.make(Option.none<ServerGuard>())
  const isSomeoneElses = yield* Ref.make(false)

  /** Adopts the server that runs, or starts one; again if the start failed, since its forerunner may still be going. */
  const reach = Effect.gen(function* () {
    const started = yield* Ref.make(0)
    const turn = Effect.gen(function* () {
      const running = yield* server.live
      if (Option.isSome(running)) return yield* attach(running.value, { isPatient: !isVisitor })
      if (yield* server.isOurChildRunning) return yield* new NotYet({ message: "it is starting" })
      const attempt = yield* Ref.updateAndGet(started, (n) => n + 1)
      if (attempt > starts) {
        return yield* new EmbeddedPostgresFailed({
          message: `the embedded database does not start: ${yield* server.lastWords} (${home.log})`
        })
      }
      if (attempt > 1) yield* Effect.sleep("500 millis")
      yield* server.start
      return yield* new NotYet({ message: "it is starting" })
    })
    return yield* turn.pipe(
      Effect.retry({ while: ({ _tag }) => _tag === "NotYet", schedule: recovery }),
      Effect.catchTag(
        "NotYet",
        ({ message }) => new EmbeddedPostgresFailed({ message: `the embedded database does not answer: ${message}` })
      )
    )
  })

  const hold = Effect.gen(function* () {
    const guard = yield* reach
    yield* Ref.set(isSomeoneElses, !guard.isOwner)
    if (guard.isOwner || isVisitor) {
      yield* Ref.set(current, Option.some(guard))
      return guard
    }
    yield* guard.close
    return yield* new EmbeddedPostgresFailed({
      message: `another Gatehouse already runs on ${home.home}: stop it, or give this one another DATA_DIR`
    })
  })

  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      if (!(yield* Ref.get(isSomeoneElses))) yield* Effect.ignoreLogged(server.stop)
      const guard = yield* Ref.get(current)
      if (Option.isSome(guard)) yield* guard.value.close
    })
  )

  yield* server.initialise
  yield* server.checkVersion
  const first = yield* hold
  if (first.isOwner) {
    const watch = Ref.get(current).pipe(
      Effect.flatMap(Option.match({ onNone: () => hold, onSome: Effect.succeed })),
      Effect.flatMap(({ ended }) => ended),
      Effect.zipRight(Ref.set(current, Option.none())),
      Effect.zipRight(new ServerLost({ message: "the embedded database went away" }))
    )
    yield* Effect.forkScoped(supervise("EmbeddedPostgres", watch))
  }
  if (home.isElsewhere) {
    yield* Effect.logInfo(
      `PostgreSQL may not run as root, and an unprivileged user cannot reach ${home.home}: the database is in ${home.server}`
    )
  }
  return DatabaseAddress.of({
    url: Redacted.make(urlOf(first.server)),
    maxConnections: options.maxConnections,
    origin: "embedded"
  })
})

const unusable = (dataDir: string) => (error: EmbeddedPostgresFailed | PlatformError) =>
  error._tag === "EmbeddedPostgresFailed"
    ? error
    : new EmbeddedPostgresFailed({ message: `the embedded database cannot use ${dataDir}: ${error.message}` })

/**
 * A PostgreSQL server of the program's own under `DATA_DIR`, reached by a Unix socket that only its user may open. One
 * that outlived its program is adopted; one that dies is started again; release stops it, after everything built on it.
 * One program at a time owns it.
 */
export const layer = (options: EmbeddedPostgresOptions): Layer.Layer<DatabaseAddress, EmbeddedPostgresFailed> =>
  Layer.scoped(DatabaseAddress, Effect.mapError(start(options), unusable(options.dataDir))).pipe(
    Layer.provide(NodeFileSystem.layer)
  )
