import { DateTime, Duration, Option } from "effect"
import type { ChatType, MessageType } from "../../platform/domain/PlatformEvent.ts"
import type { Effective } from "./AiSettings.ts"

/** Why a message is not answered: a closed list (contract, part 4, "AI"). */
export type SkipReason =
  | "global disabled"
  | "account disabled"
  | "chat disabled"
  | "chat blocked"
  | "chat type disabled"
  | "not a text message"
  | "message too old"
  | "loop protection"
  | "no API key configured"

export const repliesAnHour = 20
export const oldest = Duration.minutes(10)

export interface Situation {
  readonly settings: Effective
  readonly hasApiKey: boolean
  readonly chatType: ChatType
  readonly isBlocked: boolean
  readonly messageType: MessageType
  /** When it was written, and when it reached us. */
  readonly writtenAt: DateTime.Utc
  readonly arrivedAt: DateTime.Utc
  readonly repliesInLastHour: number
}

/** The rules of step 2 of the auto-reply flow (gateway specification, part 6), the first that applies. */
export const skipReason = (situation: Situation): Option.Option<SkipReason> => {
  const { settings } = situation
  const lateness = DateTime.distanceDuration(situation.writtenAt, situation.arrivedAt)
  const isLate = DateTime.lessThan(situation.writtenAt, situation.arrivedAt) && Duration.greaterThan(lateness, oldest)
  const rules: ReadonlyArray<readonly [boolean, SkipReason]> = [
    [!settings.globalEnabled, "global disabled"],
    [!settings.accountEnabled, "account disabled"],
    [!settings.chatEnabled, "chat disabled"],
    [situation.isBlocked, "chat blocked"],
    [!settings.replyTo[situation.chatType], "chat type disabled"],
    [situation.messageType !== "text", "not a text message"],
    [isLate, "message too old"],
    [situation.repliesInLastHour >= repliesAnHour, "loop protection"],
    [!settings.echoMode && !situation.hasApiKey, "no API key configured"]
  ]
  return Option.map(Option.fromNullable(rules.find(([applies]) => applies)), ([, reason]) => reason)
}
