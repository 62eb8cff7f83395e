import { Schema } from "effect"

/** The event names of the gateway (gateway specification, part 6). */
export const GatewayEvent = Schema.Literal(
  "message.received",
  "message.sent",
  "message.delivered",
  "message.read",
  "message.deleted",
  "chat.created",
  "chat.updated",
  "group.participant_added",
  "group.participant_removed",
  "connection.qr",
  "connection.connected",
  "connection.disconnected",
  "connection.error",
  "ai.reply.generated",
  "ai.reply.sent",
  "ai.reply.failed"
)
export type GatewayEvent = typeof GatewayEvent.Type
