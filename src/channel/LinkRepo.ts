import { SqlClient, SqlSchema } from "@effect/sql"
import { DateTime, Effect, Option, Schema } from "effect"
import { PlatformName } from "../platform/domain/PlatformEvent.ts"
import { Channel, ChannelId } from "./domain/Channel.ts"

const Link = Schema.Struct({
  platform: PlatformName,
  status: Channel.fields.status,
  isLinked: Schema.Boolean,
  loginCount: Schema.Int,
  phoneNumber: Schema.OptionFromNullOr(Schema.String)
})
export type Link = typeof Link.Type

const Shown = Schema.Struct({
  shownAs: Schema.Literal("qr", "pairing_code"),
  shownSealed: Schema.String,
  expiresAt: Schema.DateTimeUtcFromDate
})
export type Shown = typeof Shown.Type

const Login = Schema.Struct({ id: ChannelId, loginCount: Schema.Int })

/** How a channel that is linked to a phone stands; changes count for one login only. */
export class LinkRepo extends Effect.Service<LinkRepo>()("gatehouse/channel/LinkRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const link = sql.literal(`c.platform, c.status, c.session_sealed IS NOT NULL AS is_linked, c.login_count,
      p.phone_number FROM channels c LEFT JOIN channel_pairings p ON p.channel_id = c.id`)

    const byId = Effect.fn("LinkRepo.byId")(
      SqlSchema.findOne({
        Request: ChannelId,
        Result: Link,
        execute: (id) => sql`
          SELECT ${link} WHERE c.id = ${id}`
      }),
      Effect.orDie
    )
    /** Those of the channels that are linked to a phone. */
    const among = Effect.fn("LinkRepo.among")(
      SqlSchema.findAll({
        Request: Schema.Array(ChannelId),
        Result: Schema.Struct({ ...Link.fields, id: ChannelId }),
        execute: (ids) => sql`
          SELECT c.id, ${link}
          WHERE c.id = ANY(${ids}::uuid[]) AND c.platform = 'platform_a'`
      }),
      Effect.orDie
    )
    /** A new login, unless the channel is connected. */
    const begin = Effect.fn("LinkRepo.begin")(
      (id: ChannelId, phoneNumber: Option.Option<string>) => sql`
        WITH begun AS (
          UPDATE channels SET status = 'connecting', last_error = NULL, login_count = login_count + 1,
            paused_until = NULL, frozen_until = NULL, setbacks = 0
          WHERE id = ${id} AND status <> 'connected' RETURNING id
        )
        INSERT INTO channel_pairings (channel_id, phone_number) SELECT id, ${Option.getOrNull(phoneNumber)}::text FROM begun
        ON CONFLICT (channel_id) DO UPDATE SET
          phone_number = excluded.phone_number, shown_as = NULL, shown_sealed = NULL, expires_at = NULL`,
      Effect.asVoid,
      Effect.orDie
    )
    const show = Effect.fn("LinkRepo.show")(
      (id: ChannelId, { expiresAt, shownAs, shownSealed }: Shown) => sql`
        UPDATE channel_pairings SET shown_as = ${shownAs}, shown_sealed = ${shownSealed},
          expires_at = ${DateTime.toDateUtc(expiresAt)} WHERE channel_id = ${id}`,
      Effect.asVoid,
      Effect.orDie
    )
    const shown = Effect.fn("LinkRepo.shown")(
      SqlSchema.findOne({
        Request: ChannelId,
        Result: Shown,
        execute: (id) => sql`
          SELECT shown_as, shown_sealed, expires_at FROM channel_pairings
          WHERE channel_id = ${id} AND shown_sealed IS NOT NULL`
      }),
      Effect.orDie
    )
    const hide = Effect.fn("LinkRepo.hide")(
      (id: ChannelId) => sql`
        UPDATE channel_pairings SET shown_as = NULL, shown_sealed = NULL, expires_at = NULL WHERE channel_id = ${id}`,
      Effect.asVoid,
      Effect.orDie
    )
    /** None when the channel stands so already, or has another login by now. */
    const stand = Effect.fn("LinkRepo.stand")(
      SqlSchema.findOne({
        Request: Schema.Struct({
          ...Login.fields,
          status: Channel.fields.status,
          reason: Schema.NullOr(Schema.String)
        }),
        Result: Channel,
        execute: ({ id, loginCount, reason, status }) => sql`
          UPDATE channels SET status = ${status}, last_error = ${reason}
          WHERE id = ${id} AND login_count = ${loginCount} AND status <> ${status}
          AND status IN ('connecting', 'qr_required', 'connected') RETURNING *`
      }),
      Effect.orDie
    )
    const connected = Effect.fn("LinkRepo.connected")(
      SqlSchema.findOne({
        Request: Schema.Struct({
          ...Login.fields,
          username: Schema.String,
          sessionSealed: Schema.String,
          at: Schema.DateTimeUtcFromDate
        }),
        Result: Channel,
        execute: ({ at, id, loginCount, sessionSealed, username }) => sql`
          UPDATE channels SET status = 'connected', last_error = NULL, username = ${username},
            session_sealed = ${sessionSealed}, connected_at = ${at}
          WHERE id = ${id} AND login_count = ${loginCount} AND status IN ('connecting', 'qr_required') RETURNING *`
      }),
      Effect.orDie
    )
    /** False when the login is over. */
    const heard = Effect.fn("LinkRepo.heard")(
      SqlSchema.findAll({
        Request: Schema.Struct({ ...Login.fields, at: Schema.DateTimeUtcFromDate }),
        Result: Schema.Struct({ id: ChannelId }),
        execute: ({ at, id, loginCount }) => sql`
          UPDATE channels SET last_synced_at = ${at} WHERE id = ${id} AND login_count = ${loginCount} RETURNING id`
      }),
      Effect.map((rows: ReadonlyArray<unknown>) => rows.length === 1),
      Effect.orDie
    )
    const forgotten = Effect.fn("LinkRepo.forgotten")(
      (id: ChannelId) => sql`UPDATE channels SET session_sealed = NULL WHERE id = ${id}`,
      Effect.asVoid,
      Effect.orDie
    )
    return { byId, among, begin, show, shown, hide, stand, connected, heard, forgotten } as const
  })
}) {}
