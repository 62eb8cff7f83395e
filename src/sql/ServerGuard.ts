import { Data, Deferred, Effect, Schedule } from "effect"
import { Client } from "pg"
import type { Postmaster } from "./Postmaster.ts"

/** A connection open as long as the program runs: it holds the lock of the one owner, and its end tells of the server's. */
export interface ServerGuard {
  readonly server: Postmaster
  readonly isOwner: boolean
  readonly ended: Effect.Effect<void>
  readonly close: Effect.Effect<void>
}

/** The server is starting, stopping or has just gone: to be asked again. */
export class NotYet extends Data.TaggedError("NotYet")<{ readonly message: string }> {}
class LockTaken extends Data.TaggedError("LockTaken") {}

export const superuser = "gatehouse"
export const database = "gatehouse"
const ownerLock = 7_426_002

/** The server notices at once that a killed owner's connection is gone, but it needs a moment. */
const previousOwnerGoes = Schedule.spaced("100 millis").pipe(Schedule.upTo("2 seconds"))

const notYet = (cause: unknown) => new NotYet({ message: cause instanceof Error ? cause.message : "no answer" })

const query = (client: Client, text: string) =>
  Effect.map(Effect.tryPromise({ try: () => client.query(text), catch: notYet }), ({ rows }) => rows.length > 0)

const open = Effect.fnUntraced(function* ({ port, socket }: Postmaster) {
  const ended = yield* Deferred.make<void>()
  const client = new Client({
    host: socket,
    port,
    user: superuser,
    database: "postgres",
    application_name: "gatehouse guard",
    connectionTimeoutMillis: 5_000,
    ssl: false
  })
  client.on("error", () => undefined)
  client.once("end", () => Deferred.unsafeDone(ended, Effect.void))
  yield* Effect.tryPromise({ try: () => client.connect(), catch: notYet })
  const close = Effect.promise(() => client.end().catch(() => undefined)).pipe(
    Effect.interruptible,
    Effect.timeoutOption("2 seconds"),
    Effect.asVoid
  )
  return { client, close, ended: Deferred.await(ended) }
}, Effect.uninterruptible)

const takeLock = (client: Client, isPatient: boolean) =>
  query(client, `SELECT 1 WHERE pg_try_advisory_lock(${ownerLock})`).pipe(
    Effect.filterOrFail(
      (taken) => taken,
      () => new LockTaken()
    ),
    Effect.retry({
      while: ({ _tag }) => _tag === "LockTaken",
      schedule: isPatient ? previousOwnerGoes : Schedule.stop
    }),
    Effect.catchTag("LockTaken", () => Effect.succeed(false))
  )

const makeDatabase = Effect.fnUntraced(function* (client: Client) {
  if (yield* query(client, `SELECT 1 FROM pg_database WHERE datname = '${database}'`)) return
  yield* query(client, `CREATE DATABASE ${database}`)
})

/** Connects and tries to become the owner; an owner finds the program's database made. */
export const attach = Effect.fn("ServerGuard.attach")(function* (
  server: Postmaster,
  { isPatient }: { readonly isPatient: boolean }
) {
  const { client, close, ended } = yield* open(server)
  return yield* Effect.gen(function* () {
    const isOwner = yield* takeLock(client, isPatient)
    if (isOwner) yield* makeDatabase(client)
    const guard: ServerGuard = { server, isOwner, ended, close }
    return guard
  }).pipe(Effect.onError(() => close))
})
