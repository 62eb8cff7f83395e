import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Option, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"
import { InboxEntry, NotificationId, NotificationState } from "./domain/Inbox.ts"

const Moment = Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate)
const InboxRow = Schema.Struct({ ...InboxEntry.fields, appId: AppId, payload: Schema.String, dueAt: Moment })

export class InboxRepo extends Effect.Service<InboxRepo>()("gatehouse/subscription/InboxRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** False when the store sent this notification before. */
    const insert = Effect.fn("InboxRepo.insert")(
      (row: typeof InboxRow.Type) =>
        Effect.flatMap(
          Schema.encode(InboxRow)(row),
          (encoded) => sql`/* prepared: inbox_insert */
            INSERT INTO store_notifications ${sql.insert(encoded)}
            ON CONFLICT (app_id, store, notification_id) DO NOTHING RETURNING id`
        ),
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    const known = Effect.fn("InboxRepo.known")(
      SqlSchema.findOne({
        Request: Schema.Struct({ appId: AppId, store: Schema.String, notificationId: Schema.String }),
        Result: Schema.Struct({ id: NotificationId, state: NotificationState }),
        execute: ({ appId, notificationId, store }) => sql`
          SELECT id, state FROM store_notifications
          WHERE app_id = ${appId} AND store = ${store} AND notification_id = ${notificationId}`
      }),
      Effect.orDie
    )
    /** What is applied or ignored is never due again. */
    const settle = Effect.fn("InboxRepo.settle")(
      (id: NotificationId, state: "applied" | "ignored", reason: Option.Option<string>) => sql`
        UPDATE store_notifications SET state = ${state}, reason = ${Option.getOrNull(reason)}, due_at = NULL
        WHERE id = ${id}`,
      Effect.asVoid,
      Effect.orDie
    )
    /** It could not be applied, and is due again. */
    const postpone = Effect.fn("InboxRepo.postpone")(
      SqlSchema.void({
        Request: Schema.Struct({ id: NotificationId, reason: Schema.String, dueAt: Schema.DateTimeUtcFromDate }),
        execute: ({ dueAt, id, reason }) => sql`
          UPDATE store_notifications SET reason = ${reason}, due_at = ${dueAt} WHERE id = ${id} AND state = 'pending'`
      }),
      Effect.orDie
    )
    const page = Effect.fn("InboxRepo.page")(
      SqlSchema.findAll({
        Request: Schema.Struct({
          appId: AppId,
          state: Schema.NullOr(NotificationState),
          before: Schema.NullOr(Schema.UUID),
          limit: Schema.Int
        }),
        Result: InboxEntry,
        execute: ({ appId, before, limit, state }) => sql`
          SELECT id, store, notification_id, type, subtype, environment, state, reason, signed_at, received_at
          FROM store_notifications WHERE app_id = ${appId} AND (${state}::text IS NULL OR state = ${state}::text)
          AND (${before}::uuid IS NULL OR id < ${before}::uuid) ORDER BY id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    return { insert, known, settle, postpone, page } as const
  })
}) {}
