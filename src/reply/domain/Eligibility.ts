import { Array, DateTime, Duration, Option, Schema } from "effect"
import type { ChatType, MessageType } from "../../platform/domain/PlatformEvent.ts"
import type { Effective } from "./AiSettings.ts"

/** Why a message is not answered: a closed list (contract, part 4, "AI"). */
export const SkipReason = Schema.Literal(
  "global disabled",
  "account disabled",
  "chat disabled",
  "chat blocked",
  "chat type disabled",
  "not a text message",
  "message too old",
  "human takeover",
  "superseded",
  "loop protection",
  "no API key configured"
)
export type SkipReason = typeof SkipReason.Type

export const repliesAnHour = 20
const oldest = Duration.minutes(10)
/** A customer who never stops writing is answered after so long. */
const longestBurst = Duration.minutes(1)

/** What the rules ask of a chat, whichever of its messages is to be answered. */
export interface ChatSituation {
  readonly settings: Effective
  readonly chatType: ChatType
  readonly isBlocked: boolean
  /** When a person last wrote in the chat in the channel's name. */
  readonly humanWroteAt: Option.Option<DateTime.Utc>
  readonly repliesInLastHour: number
  readonly now: DateTime.Utc
}

export interface MessageSituation {
  readonly type: MessageType
  /** When it was written, and when it reached us. */
  readonly writtenAt: DateTime.Utc
  readonly arrivedAt: DateTime.Utc
}

const answersType = ({ chatType, settings }: ChatSituation): boolean =>
  ({ private: settings.replyToPrivate, group: settings.replyToGroups, channel: settings.replyToChannels })[chatType]
    .value

const isHumanNear = ({ humanWroteAt, now, settings }: ChatSituation): boolean => {
  const silence = Duration.minutes(settings.humanTakeoverMinutes.value)
  return Option.exists(humanWroteAt, (at) => DateTime.greaterThan(DateTime.addDuration(at, silence), now))
}

/** The rules of step 2 of the auto-reply flow (gateway specification, part 6), the first that applies. */
export const skipReason = (chat: ChatSituation, message: MessageSituation): Option.Option<SkipReason> => {
  const { enabled, echoMode, hasApiKey } = chat.settings
  const rules: ReadonlyArray<readonly [boolean, SkipReason]> = [
    [!enabled.global, "global disabled"],
    [!enabled.account, "account disabled"],
    [!enabled.chat, "chat disabled"],
    [chat.isBlocked, "chat blocked"],
    [!answersType(chat), "chat type disabled"],
    [message.type !== "text", "not a text message"],
    [DateTime.greaterThan(message.arrivedAt, DateTime.addDuration(message.writtenAt, oldest)), "message too old"],
    [isHumanNear(chat), "human takeover"],
    [chat.repliesInLastHour >= repliesAnHour, "loop protection"],
    [!echoMode.value && !hasApiKey.value, "no API key configured"]
  ]
  return Option.map(Option.fromNullable(rules.find(([applies]) => applies)), ([, reason]) => reason)
}

/** What is to be done about the messages of a chat that wait for an answer. */
export interface Plan<Message> {
  readonly skipped: ReadonlyArray<{ readonly message: Message; readonly reason: SkipReason }>
  /** Nothing more is skipped or answered before this. */
  readonly waitUntil: Option.Option<DateTime.Utc>
  readonly answer: Option.Option<Message>
}

/** When the customer is taken to have finished: so long after the last message, but no later than a minute after the first. */
export const burstEnd = (debounceSeconds: number, burst: Array.NonEmptyReadonlyArray<MessageSituation>): DateTime.Utc =>
  DateTime.min(
    DateTime.addDuration(Array.lastNonEmpty(burst).arrivedAt, Duration.seconds(debounceSeconds)),
    DateTime.addDuration(Array.headNonEmpty(burst).arrivedAt, longestBurst)
  )

/**
 * Which of the waiting messages, in order, is answered next. Without debouncing each is answered for itself; with it the
 * last that may be answered stands for all of them, once the customer has finished, and the others are `superseded`.
 */
export const plan = <Message extends MessageSituation>(
  chat: ChatSituation,
  waiting: Array.NonEmptyReadonlyArray<Message>
): Plan<Message> => {
  const debounce = chat.settings.debounceSeconds.value
  const isSingle = debounce === 0
  const reasons = waiting.map((message) => ({ message, reason: skipReason(chat, message) }))
  const eligible = reasons.filter(({ reason }) => Option.isNone(reason)).map(({ message }) => message)
  const chosen = Option.fromNullable(isSingle ? eligible[0] : eligible.at(-1))
  const end = burstEnd(debounce, waiting)
  if (!isSingle && Option.isSome(chosen) && DateTime.greaterThan(end, chat.now)) {
    return { skipped: [], waitUntil: Option.some(end), answer: Option.none() }
  }
  const before = Option.match(chosen, { onNone: () => reasons.length, onSome: (one) => waiting.indexOf(one) })
  const skipped = reasons
    .slice(0, before)
    .map(({ message, reason }) => ({ message, reason: Option.getOrElse(reason, () => "superseded" as const) }))
  return { skipped, waitUntil: Option.none(), answer: chosen }
}
