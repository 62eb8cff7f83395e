import { SqlClient, SqlSchema } from "@effect/sql"
import { Array, DateTime, Effect, Schema } from "effect"
import { PlatformName } from "../platform/domain/PlatformEvent.ts"
import { Channel, ChannelId, ChannelStatus } from "./domain/Channel.ts"
import { Pacing } from "./domain/Pacing.ts"

/** A channel with what only its actor and its logins may see. `loginCount` tells one login's session from the next. */
const ChannelRow = Schema.Struct({
  ...Channel.fields,
  sessionSealed: Schema.OptionFromNullOr(Schema.String),
  loginCount: Schema.Int,
  pollCursor: Schema.OptionFromNullOr(Schema.String),
  setbacks: Schema.Int,
  hasUnsent: Schema.Boolean
})
export type ChannelRow = typeof ChannelRow.Type

const Login = Schema.Struct({
  id: ChannelId,
  status: ChannelStatus,
  username: Schema.OptionFromNullOr(Schema.String),
  lastError: Schema.OptionFromNullOr(Schema.String),
  sessionSealed: Schema.String,
  connectedAt: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate),
  isCodeRight: Schema.Boolean
})

const triesOf = { password: "login_attempts", code: "code_attempts" }

const Turn = Schema.Struct({
  id: ChannelId,
  loginCount: Schema.Int,
  sessionSealed: Schema.OptionFromNullOr(Schema.String),
  pollCursor: Schema.String,
  at: Schema.DateTimeUtcFromDate
})

/** A poll that found nothing. */
export interface QuietTurn {
  readonly id: ChannelId
  readonly loginCount: number
  readonly at: DateTime.Utc
}

const Rest = Schema.Struct({
  id: ChannelId,
  loginCount: Schema.Int,
  pausedUntil: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate),
  frozenUntil: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate),
  reason: Schema.String
})

export class ChannelRepo extends Effect.Service<ChannelRepo>()("gatehouse/channel/ChannelRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const insert = Effect.fn("ChannelRepo.insert")(
      (row: {
        readonly id: ChannelId
        readonly name: string
        readonly platform: typeof PlatformName.Type
        readonly tokenDigest: string
        readonly createdAt: Date
      }) => sql`INSERT INTO channels ${sql.insert(row)}`,
      Effect.asVoid,
      Effect.orDie
    )
    const byId = Effect.fn("ChannelRepo.byId")(
      SqlSchema.findOne({
        Request: ChannelId,
        Result: Channel,
        execute: (id) => sql`SELECT * FROM channels WHERE id = ${id}`
      }),
      Effect.orDie
    )
    const byTokenDigest = Effect.fn("ChannelRepo.byTokenDigest")(
      SqlSchema.findOne({
        Request: Schema.String,
        Result: Schema.Struct({ id: ChannelId }),
        execute: (digest) => sql`SELECT id FROM channels WHERE token_digest = ${digest}`
      }),
      Effect.orDie
    )
    const page = Effect.fn("ChannelRepo.page")(
      SqlSchema.findAll({
        Request: Schema.Struct({ before: Schema.NullOr(Schema.UUID), limit: Schema.Int }),
        Result: Channel,
        execute: ({ before, limit }) => sql`
          SELECT * FROM channels WHERE (${before}::uuid IS NULL OR id < ${before}::uuid) ORDER BY id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    /** Connected channels that have not been heard of since then, although nothing keeps them from polling. */
    const silentSince = Effect.fn("ChannelRepo.silentSince")(
      SqlSchema.findAll({
        Request: Schema.Struct({ since: Schema.DateTimeUtcFromDate, now: Schema.DateTimeUtcFromDate }),
        Result: Schema.Struct({ id: ChannelId }),
        execute: ({ now, since }) => sql`
          SELECT id FROM channels WHERE status IN ('connecting', 'qr_required')
          OR (status = 'connected' AND (last_synced_at IS NULL OR last_synced_at < ${since})
            AND (paused_until IS NULL OR paused_until < ${now})) ORDER BY id`
      }),
      Effect.orDie
    )
    const rename = Effect.fn("ChannelRepo.rename")(
      (id: ChannelId, name: string) => sql`UPDATE channels SET name = ${name} WHERE id = ${id}`,
      Effect.asVoid,
      Effect.orDie
    )
    const remove = Effect.fn("ChannelRepo.remove")(
      (id: ChannelId) => sql`DELETE FROM channels WHERE id = ${id} RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    const rows = Effect.fn("ChannelRepo.rows")(
      SqlSchema.findAll({
        Request: Schema.Array(ChannelId),
        Result: ChannelRow,
        execute: (ids) => sql`
          SELECT *, EXISTS (SELECT 1 FROM messages WHERE channel_id = channels.id AND status IN ('queued', 'sending'))
            AS has_unsent
          FROM channels WHERE id = ANY(${ids}::uuid[])`
      }),
      Effect.orDie
    )
    const row = (id: ChannelId) => Effect.map(rows([id]), Array.head)
    const putPacing = Effect.fn("ChannelRepo.putPacing")(
      (id: ChannelId, pacing: Pacing) =>
        Effect.flatMap(
          Schema.encode(Schema.parseJson(Pacing))(pacing),
          (text) => sql`UPDATE channels SET pacing = ${text} WHERE id = ${id}`
        ),
      Effect.asVoid,
      Effect.orDie
    )
    const replaceToken = Effect.fn("ChannelRepo.replaceToken")(
      (id: ChannelId, tokenDigest: string) => sql`
        UPDATE channels SET token_digest = ${tokenDigest} WHERE id = ${id} RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    /** Goes on with the session that was kept; what the platform asked to wait for is waited for. */
    const resume = Effect.fn("ChannelRepo.resume")(
      SqlSchema.findOne({
        Request: Schema.Struct({ id: ChannelId, at: Schema.DateTimeUtcFromDate }),
        Result: Channel,
        execute: ({ at, id }) => sql`
          UPDATE channels SET status = 'connected', last_error = NULL, connected_at = ${at}, login_count = login_count + 1
          WHERE id = ${id} AND session_sealed IS NOT NULL AND status = 'disconnected' AND connected_at IS NOT NULL
          RETURNING *`
      }),
      Effect.orDie
    )
    /** The session is gone for good. */
    const forgetSession = Effect.fn("ChannelRepo.forgetSession")(
      (id: ChannelId) => sql`UPDATE channels SET session_sealed = NULL, login_count = login_count + 1 WHERE id = ${id}`,
      Effect.asVoid,
      Effect.orDie
    )
    /** Notes a password or code that is about to be tried, when there were fewer than so many since then. */
    const tryLogin = Effect.fn("ChannelRepo.tryLogin")(
      SqlSchema.findOne({
        Request: Schema.Struct({
          id: ChannelId,
          by: Schema.Literal("password", "code"),
          at: Schema.DateTimeUtcFromDate,
          since: Schema.DateTimeUtcFromDate,
          allowed: Schema.Int
        }),
        Result: Schema.Struct({ isAllowed: Schema.Boolean, oldest: Schema.DateTimeUtcFromDate }),
        execute: ({ allowed, at, by, id, since }) => sql`
          WITH recent AS (
            SELECT id, ARRAY(SELECT a FROM unnest(${sql(triesOf[by])}) a WHERE a > ${since} ORDER BY a) AS attempts
            FROM channels WHERE id = ${id} FOR UPDATE
          ), noted AS (
            UPDATE channels SET ${sql(triesOf[by])} = attempts || ${at}::timestamptz FROM recent
            WHERE channels.id = recent.id AND cardinality(attempts) < ${allowed} RETURNING channels.id
          )
          SELECT EXISTS (SELECT FROM noted) AS is_allowed, coalesce(attempts[1], ${at}::timestamptz) AS oldest FROM recent`
      }),
      Effect.orDie
    )
    /** Each login has a number of its own; the session of another user begins at its own baseline. */
    const login = Effect.fn("ChannelRepo.login")(
      SqlSchema.findOne({
        Request: Login,
        Result: Channel,
        execute: ({ connectedAt, id, isCodeRight, lastError, sessionSealed, status, username }) => sql`
          UPDATE channels SET status = ${status}, last_error = ${lastError}, session_sealed = ${sessionSealed},
            poll_cursor = CASE WHEN username = coalesce(${username}::text, username) THEN poll_cursor END,
            username = coalesce(${username}::text, username),
            connected_at = coalesce(${connectedAt}::timestamptz, connected_at),
            login_attempts = CASE WHEN ${connectedAt}::timestamptz IS NULL THEN login_attempts ELSE '{}' END,
            code_attempts = CASE WHEN ${isCodeRight} THEN '{}' ELSE code_attempts END,
            login_count = login_count + 1, paused_until = NULL, frozen_until = NULL, setbacks = 0
          WHERE id = ${id} RETURNING *`
      }),
      Effect.orDie
    )
    /** None when the channel is so already, is gone, or has logged in anew since `loginCount`. */
    const end = Effect.fn("ChannelRepo.end")(
      SqlSchema.findOne({
        Request: Schema.Struct({
          id: ChannelId,
          loginCount: Schema.NullOr(Schema.Int),
          status: ChannelStatus,
          reason: Schema.NullOr(Schema.String)
        }),
        Result: Channel,
        execute: ({ id, loginCount, reason, status }) => sql`
          UPDATE channels SET status = ${status}, last_error = ${reason}
          WHERE id = ${id} AND status <> ${status} AND login_count = coalesce(${loginCount}::int, login_count)
          RETURNING *`
      }),
      Effect.orDie
    )
    /** False when the session is no longer the one that was polled with. */
    const synced = Effect.fn("ChannelRepo.synced")(
      SqlSchema.findAll({
        Request: Turn,
        Result: Schema.Struct({ id: ChannelId }),
        execute: ({ at, id, loginCount, pollCursor, sessionSealed }) => sql`/* prepared: channel_synced */
          UPDATE channels SET session_sealed = coalesce(${sessionSealed}::text, session_sealed),
            poll_cursor = ${pollCursor}, last_synced_at = ${at}, paused_until = NULL,
            setbacks = CASE WHEN frozen_until > ${at} THEN setbacks ELSE 0 END,
            last_error = CASE WHEN frozen_until > ${at} THEN last_error END
          WHERE id = ${id} AND login_count = ${loginCount} AND status = 'connected' RETURNING id`
      }),
      Effect.map((rows: ReadonlyArray<unknown>) => rows.length === 1),
      Effect.orDie
    )
    /** Notes polls that found nothing, many at once; answers the channels whose session is still the one polled with. */
    const quiet = Effect.fn("ChannelRepo.quiet")(
      (turns: ReadonlyArray<QuietTurn>) => sql`
        UPDATE channels c SET last_synced_at = turn.at
        FROM unnest(${turns.map(({ id }) => id)}::uuid[], ${turns.map(({ loginCount }) => loginCount)}::int[],
          ${turns.map(({ at }) => DateTime.formatIso(at))}::timestamptz[]) AS turn(id, login_count, at)
        WHERE c.id = turn.id AND c.login_count = turn.login_count AND c.status = 'connected' RETURNING c.id`,
      Effect.flatMap(Schema.decodeUnknown(Schema.Array(Schema.Struct({ id: ChannelId })))),
      Effect.map((rows) => new Set(rows.map(({ id }) => id))),
      Effect.orDie
    )
    const rest = Effect.fn("ChannelRepo.rest")(
      SqlSchema.void({
        Request: Rest,
        execute: ({ frozenUntil, id, loginCount, pausedUntil, reason }) => sql`
          UPDATE channels SET setbacks = setbacks + 1, last_error = ${reason},
            paused_until = greatest(paused_until, ${pausedUntil}::timestamptz),
            frozen_until = greatest(frozen_until, ${frozenUntil}::timestamptz)
          WHERE id = ${id} AND login_count = ${loginCount}`
      }),
      Effect.orDie
    )
    const noteError = Effect.fn("ChannelRepo.noteError")(
      (id: ChannelId, reason: string) =>
        sql`UPDATE channels SET last_error = ${reason} WHERE id = ${id} AND status <> 'connected'`,
      Effect.asVoid,
      Effect.orDie
    )
    return {
      insert,
      byId,
      byTokenDigest,
      page,
      silentSince,
      rename,
      remove,
      rows,
      row,
      putPacing,
      replaceToken,
      resume,
      forgetSession,
      tryLogin,
      login,
      end,
      synced,
      quiet,
      rest,
      noteError
    } as const
  })
}) {}
