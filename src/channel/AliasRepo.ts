import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { ChannelId } from "./domain/Channel.ts"

const Names = Schema.Struct({ channelId: ChannelId, names: Schema.Array(Schema.String) })

/** The names of chats: one that is theirs, and others that lead there. */
export class AliasRepo extends Effect.Service<AliasRepo>()("gatehouse/channel/AliasRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const leads = Effect.fn("AliasRepo.leads")(
      SqlSchema.findAll({
        Request: Names,
        Result: Schema.Struct({ alias: Schema.String, chatId: Schema.String }),
        execute: ({ channelId, names }) => sql`
          SELECT alias, chat_id FROM chat_aliases WHERE channel_id = ${channelId} AND alias = ANY(${names}::text[])`
      }),
      Effect.orDie
    )
    const chats = Effect.fn("AliasRepo.chats")(
      SqlSchema.findAll({
        Request: Names,
        Result: Schema.Struct({ chatId: Schema.String }),
        execute: ({ channelId, names }) => sql`
          SELECT chat_id FROM chats WHERE channel_id = ${channelId} AND chat_id = ANY(${names}::text[])
          ORDER BY created_at`
      }),
      Effect.orDie
    )
    /** Two chats were one all along: everything goes on in the first. */
    const merge = Effect.fn("AliasRepo.merge")(
      (channelId: ChannelId, from: string, into: string) =>
        sql`
          UPDATE messages m SET chat_id = ${into} WHERE channel_id = ${channelId} AND chat_id = ${from}
          AND NOT EXISTS (SELECT 1 FROM messages o WHERE o.channel_id = m.channel_id AND o.chat_id = ${into}
            AND o.platform_message_id = m.platform_message_id)`.pipe(
          Effect.zipRight(sql`
          WITH gone AS (DELETE FROM chats WHERE channel_id = ${channelId} AND chat_id = ${from} RETURNING *)
          UPDATE chats c SET unread_count = c.unread_count + g.unread_count, name = coalesce(c.name, g.name),
            last_message_id = greatest(c.last_message_id, g.last_message_id),
            last_message_at = greatest(c.last_message_at, g.last_message_at)
          FROM gone g WHERE c.channel_id = g.channel_id AND c.chat_id = ${into}`),
          Effect.zipRight(sql`
          UPDATE chat_aliases SET chat_id = ${into} WHERE channel_id = ${channelId} AND chat_id = ${from}`)
        ),
      Effect.asVoid,
      Effect.orDie
    )
    const learn = Effect.fn("AliasRepo.learn")(
      (channelId: ChannelId, aliases: ReadonlyArray<string>, chatId: string) => sql`
        INSERT INTO chat_aliases (channel_id, alias, chat_id)
        SELECT ${channelId}::uuid, alias, ${chatId} FROM unnest(${aliases}::text[]) AS alias
        ON CONFLICT (channel_id, alias) DO UPDATE SET chat_id = excluded.chat_id
        WHERE chat_aliases.chat_id <> excluded.chat_id`,
      Effect.asVoid,
      Effect.orDie
    )
    return { leads, chats, merge, learn } as const
  })
}) {}
