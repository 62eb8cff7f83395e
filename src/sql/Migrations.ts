import { Migrator, SqlClient } from "@effect/sql"
import { Data, Effect, Layer } from "effect"
import identity from "./migrations/0001_identity.ts"
import catalog from "./migrations/0002_catalog.ts"
import webhook from "./migrations/0003_webhook.ts"
import subscription from "./migrations/0004_subscription.ts"
import channel from "./migrations/0005_channel.ts"
import reply from "./migrations/0006_reply.ts"
import members from "./migrations/0007_members.ts"
import offerings from "./migrations/0008_offerings.ts"
import customers from "./migrations/0009_customers.ts"
import credentials from "./migrations/0010_credentials.ts"
import stats from "./migrations/0011_stats.ts"
import requests from "./migrations/0012_requests.ts"
import secrets from "./migrations/0013_secrets.ts"
import scale from "./migrations/0015_scale.ts"
import receipts from "./migrations/0016_receipts.ts"
import tokens from "./migrations/0017_tokens.ts"
import ledger from "./migrations/0018_ledger.ts"
import joined from "./migrations/0019_joined.ts"
import agenda from "./migrations/0020_agenda.ts"
import replies from "./migrations/0030_replies.ts"
import sessions from "./migrations/0032_sessions.ts"
import pacing from "./migrations/0034_pacing.ts"
import lanes from "./migrations/0036_lanes.ts"
import stream from "./migrations/0037_stream.ts"
import purchases from "./migrations/0039_purchases.ts"
import refunds from "./migrations/0041_refunds.ts"
import logins from "./migrations/0045_logins.ts"
import codes from "./migrations/0050_codes.ts"
import alerts from "./migrations/0051_alerts.ts"

/** The database cannot be brought up to date, in one line for the operator: nothing was changed. */
export class MigrationFailed extends Data.TaggedError("MigrationFailed")<{
  readonly message: string
  readonly cause: unknown
}> {}

const loader = Migrator.fromRecord({
  "0001_identity": identity,
  "0002_catalog": catalog,
  "0003_webhook": webhook,
  "0004_subscription": subscription,
  "0005_channel": channel,
  "0006_reply": reply,
  "0007_members": members,
  "0008_offerings": offerings,
  "0009_customers": customers,
  "0010_credentials": credentials,
  "0011_stats": stats,
  "0012_requests": requests,
  "0013_secrets": secrets,
  "0015_scale": scale,
  "0016_receipts": receipts,
  "0017_tokens": tokens,
  "0018_ledger": ledger,
  "0019_joined": joined,
  "0020_agenda": agenda,
  "0030_replies": replies,
  "0032_sessions": sessions,
  "0034_pacing": pacing,
  "0036_lanes": lanes,
  "0037_stream": stream,
  "0039_purchases": purchases,
  "0041_refunds": refunds,
  "0045_logins": logins,
  "0050_codes": codes,
  "0051_alerts": alerts
})

const migrateLock = 7_426_001

const pending = Migrator.make({})({ loader, table: "schema_migrations" })

const innermost = (error: unknown): string =>
  error instanceof Error && error.cause instanceof Error
    ? innermost(error.cause)
    : error instanceof Error
      ? error.message
      : String(error)

const failed = (cause: Error) =>
  new MigrationFailed({ cause, message: `the database cannot be brought up to date: ${innermost(cause)}` })

/**
 * Applies what is missing, forward only, all of it or nothing. One transaction holds the lock from before the first look
 * to the commit, so that several programs that start at once wait for each other, and one that dies lets go. The table
 * is made beforehand because the migrator finds out by a failing statement, which would end the transaction. Answers the
 * ids and names of what was applied.
 */
export const migrate = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const applied = yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SELECT pg_advisory_xact_lock(${migrateLock})`
      yield* sql`
        CREATE TABLE IF NOT EXISTS schema_migrations (
          migration_id integer PRIMARY KEY,
          created_at timestamptz NOT NULL DEFAULT now(),
          name text NOT NULL
        )`
      return yield* pending
    })
  )
  if (applied.length > 0) {
    yield* Effect.logInfo("the database was brought up to date").pipe(
      Effect.annotateLogs({ migrations: applied.map(([, name]) => name).join(", ") })
    )
  }
  return applied
}).pipe(Effect.mapError(failed), Effect.withSpan("Migrations.migrate"))

export const layer = Layer.effectDiscard(migrate)
