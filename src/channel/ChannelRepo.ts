import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Option, Schema } from "effect"
import { PlatformName } from "../platform/domain/PlatformEvent.ts"
import { Channel, ChannelId, type ChannelStatus } from "./domain/Channel.ts"

/** What only the actor and a login may see. */
const SessionRow = Schema.Struct({
  sessionSealed: Schema.OptionFromNullOr(Schema.String),
  pollCursor: Schema.OptionFromNullOr(Schema.String)
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
    const connected = Effect.fn("ChannelRepo.connected")(
      SqlSchema.findAll({
        Request: Schema.Void,
        Result: Schema.Struct({ id: ChannelId }),
        execute: () => sql`SELECT id FROM channels WHERE status = 'connected' ORDER BY id`
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
    const setState = Effect.fn("ChannelRepo.setState")(
      (
        id: ChannelId,
        state: {
          readonly status: ChannelStatus
          readonly lastError: Option.Option<string>
          readonly sessionSealed?: string
          readonly username?: string
          readonly connectedAt?: Date
        }
      ) => sql`
        UPDATE channels SET ${sql.update({ ...state, lastError: Option.getOrNull(state.lastError) })} WHERE id = ${id}`,
      Effect.asVoid,
      Effect.orDie
    )
    const session = Effect.fn("ChannelRepo.session")(
      SqlSchema.findOne({
        Request: ChannelId,
        Result: SessionRow,
        execute: (id) => sql`SELECT session_sealed, poll_cursor FROM channels WHERE id = ${id}`
      }),
      Effect.orDie
    )
    const synced = Effect.fn("ChannelRepo.synced")(
      (
        id: ChannelId,
        progress: { readonly sessionSealed: string; readonly pollCursor: string; readonly at: Date }
      ) => sql`
        UPDATE channels SET session_sealed = ${progress.sessionSealed}, poll_cursor = ${progress.pollCursor},
          last_synced_at = ${progress.at}, last_error = NULL
        WHERE id = ${id} AND status = 'connected'`,
      Effect.asVoid,
      Effect.orDie
    )
    return { insert, byId, byTokenDigest, page, connected, rename, remove, setState, session, synced } as const
  })
}) {}
