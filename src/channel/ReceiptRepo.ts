import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Option, Schema } from "effect"
import { ChannelId } from "./domain/Channel.ts"
import { Message, type MessageId, type MessageStatus } from "./domain/Message.ts"

/** Messages as the platform knows them. */
export class ReceiptRepo extends Effect.Service<ReceiptRepo>()("gatehouse/channel/ReceiptRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** Locked until the transaction ends, so that two receipts do not pass each other. */
    const known = Effect.fn("ReceiptRepo.known")(
      SqlSchema.findAll({
        Request: Schema.Struct({
          channelId: ChannelId,
          ids: Schema.Array(Schema.String),
          direction: Schema.Literal("incoming", "outgoing")
        }),
        Result: Message,
        execute: ({ channelId, direction, ids }) => sql`
          SELECT * FROM messages WHERE channel_id = ${channelId} AND platform_message_id = ANY(${ids}::text[])
          AND direction = ${direction} ORDER BY id FOR UPDATE`
      }),
      Effect.orDie
    )
    const stand = Effect.fn("ReceiptRepo.stand")(
      (id: MessageId, status: MessageStatus) => sql`UPDATE messages SET status = ${status} WHERE id = ${id}`,
      Effect.asVoid,
      Effect.orDie
    )
    const sentText = Effect.fn("ReceiptRepo.sentText")(
      SqlSchema.findOne({
        Request: Schema.Struct({ channelId: ChannelId, platformMessageId: Schema.String }),
        Result: Schema.Struct({ body: Schema.String }),
        execute: ({ channelId, platformMessageId }) => sql`
          SELECT body FROM messages WHERE channel_id = ${channelId} AND platform_message_id = ${platformMessageId}
          AND direction = 'outgoing' AND type = 'text' AND status <> 'deleted'`
      }),
      Effect.map(Option.map(({ body }) => body)),
      Effect.orDie
    )
    /** Before it is sent: whatever the platform says about that id is about this message. */
    const nameAhead = Effect.fn("ReceiptRepo.nameAhead")(
      (id: string, platformMessageId: string) =>
        sql`UPDATE messages SET platform_message_id = ${platformMessageId} WHERE id = ${id}`,
      Effect.asVoid,
      Effect.orDie
    )
    return { known, stand, sentText, nameAhead } as const
  })
}) {}
