import { DateTime, Option, Schema } from "effect"

export const AiLogId = Schema.UUID.pipe(Schema.brand("AiLogId"))
export type AiLogId = typeof AiLogId.Type

export const AiLogStatus = Schema.Literal("pending", "generated", "sent", "failed", "skipped")
export type AiLogStatus = typeof AiLogStatus.Type

/**
 * The record of one reply, which is also the durable job of it: `pending` waits for its evaluation, `generated` for its
 * sending, and `replyMessageId`, the first of its messages, says that it has been handed to the channel. `detail` has
 * the provider's own words, which are for the log and the operator.
 */
export class AiLog extends Schema.Class<AiLog>("AiLog")({
  id: AiLogId,
  accountId: Schema.UUID,
  chatId: Schema.String,
  messageId: Schema.UUID,
  replyMessageId: Schema.OptionFromNullOr(Schema.UUID),
  status: AiLogStatus,
  reason: Schema.OptionFromNullOr(Schema.String),
  detail: Schema.OptionFromNullOr(Schema.String),
  modelName: Schema.OptionFromNullOr(Schema.String),
  promptTokens: Schema.OptionFromNullOr(Schema.Number),
  completionTokens: Schema.OptionFromNullOr(Schema.Number),
  latencyMs: Schema.OptionFromNullOr(Schema.Number),
  reply: Schema.OptionFromNullOr(Schema.String),
  createdAt: Schema.DateTimeUtcFromDate
}) {
  get isOpen(): boolean {
    return this.status === "pending" || this.status === "generated"
  }
}

/** `data` of `ai.reply.*` events: the log without the provider's words (contract, part 4, "AI"). */
export const aiLogData = (log: AiLog) => ({
  id: log.id,
  account_id: log.accountId,
  chat_id: log.chatId,
  message_id: log.messageId,
  reply_message_id: Option.getOrNull(log.replyMessageId),
  status: log.status,
  reason: Option.getOrNull(log.reason),
  model_name: Option.getOrNull(log.modelName),
  prompt_tokens: Option.getOrNull(log.promptTokens),
  completion_tokens: Option.getOrNull(log.completionTokens),
  latency_ms: Option.getOrNull(log.latencyMs),
  reply: Option.getOrNull(log.reply),
  created_at: DateTime.formatIso(log.createdAt)
})

/** The log as the operator reads it. */
export const aiLogItem = (log: AiLog) => ({
  ...aiLogData(log),
  reason: Option.getOrNull(
    Option.map(log.reason, (reason) =>
      Option.match(log.detail, { onNone: () => reason, onSome: (detail) => `${reason}: ${detail}` })
    )
  )
})
