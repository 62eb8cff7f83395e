import { Schema } from "effect"
import { AiLogId } from "./AiLog.ts"

/**
 * The replies of one chat: at most one is `current`, from its evaluation until the channel has sent it; `answeredUntil` is
 * the last that has ended, and none before it begins any more. `waiting` counts those that have not ended.
 */
export class ReplyJob extends Schema.Class<ReplyJob>("ReplyJob")({
  accountId: Schema.UUID,
  chatId: Schema.String,
  current: Schema.OptionFromNullOr(AiLogId),
  answeredUntil: Schema.OptionFromNullOr(AiLogId),
  waiting: Schema.Int,
  dueAt: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate)
}) {}
