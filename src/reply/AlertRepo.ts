import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { type LastAlert, Occasion } from "./domain/ManagerAlert.ts"

const Key = Schema.Struct({ accountId: Schema.String, chatId: Schema.String, occasion: Occasion })
type Key = typeof Key.Type
const Row = Schema.Struct({ told: Schema.String, toldAt: Schema.DateTimeUtcFromDate, heldBack: Schema.Int })
const NewRow = Schema.Struct({ ...Key.fields, ...Row.fields })

/** What the manager was last told about a chat, by occasion. */
export class AlertRepo extends Effect.Service<AlertRepo>()("gatehouse/reply/AlertRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** Nobody else changes it until the transaction ends. */
    const held = Effect.fn("AlertRepo.held")(
      SqlSchema.findOne({
        Request: Key,
        Result: Row,
        execute: ({ accountId, chatId, occasion }) => sql`
          SELECT told, told_at, held_back FROM reply_alerts
          WHERE account_id = ${accountId} AND chat_id = ${chatId} AND occasion = ${occasion} FOR UPDATE`
      }),
      Effect.orDie
    )
    const put = Effect.fn("AlertRepo.put")(
      (key: Key, last: LastAlert) =>
        Effect.flatMap(
          Schema.encode(NewRow)({ ...key, ...last }),
          (row) => sql`
            INSERT INTO reply_alerts ${sql.insert(row)} ON CONFLICT (account_id, chat_id, occasion) DO UPDATE
            SET told = excluded.told, told_at = excluded.told_at, held_back = excluded.held_back`
        ),
      Effect.asVoid,
      Effect.orDie
    )
    return { held, put } as const
  })
}) {}
