import { Array, DateTime, Duration, Option, Schema } from "effect"
import { beginning } from "../../platform/domain/StorableText.ts"
import type { ManagerAlerts } from "./AiSettings.ts"

/** What the model is told to write when a person should go on; it never reaches the chat. */
export const handOffMark = "[[HANDOFF]]"

export const handOffInstruction =
  "If the customer asks for a person, or you cannot help, say in one sentence that a person will answer, and end your " +
  `reply with ${handOffMark}.`

const marks = /\[\[\s*HANDOFF\s*\]\]/gi

/** A model's reply without the mark, and whether it was there. */
export const handOffIn = (reply: string): { readonly text: string; readonly isHandOff: boolean } => {
  const text = reply.replace(marks, "").trim()
  return { text, isHandOff: text !== reply.trim() }
}

const folded = (text: string) => text.normalize("NFKC").toLowerCase()

/** The first of the keywords that one of the texts contains, whatever the case. */
export const keywordIn = ({ keywords }: ManagerAlerts, texts: ReadonlyArray<string>): Option.Option<string> =>
  Array.findFirst(keywords, (keyword) => texts.some((text) => folded(text).includes(folded(keyword))))

/** What the manager is told about. A keyword must not hide that somebody asks for a person: each has a quiet time of its own. */
export const Occasion = Schema.Literal("keyword", "hand_off")
export type Occasion = typeof Occasion.Type

/** After an alert about a chat the manager knows, and is not told again for so long. */
export const quietTime = Duration.minutes(15)

/** The last alert about a chat that went out: to whom and when, and how often it was held back since. */
export interface LastAlert {
  readonly told: string
  readonly toldAt: DateTime.Utc
  readonly heldBack: number
}

/** What becomes of an occasion to alert: told, with the number of those that were not since the last alert, or held back. */
export interface AlertDecision {
  readonly last: LastAlert
  readonly tells: Option.Option<{ readonly heldBack: number }>
}

/**
 * At most one alert about a chat in a quiet time, which repeats do not make longer; the next one says how often it was
 * held back. Who has just become the manager is told at once. A clock that was set back silences nobody for longer.
 */
export const decideAlert = (last: Option.Option<LastAlert>, to: string, now: DateTime.Utc): AlertDecision => {
  const before = Option.filter(last, ({ told }) => told === to)
  const isQuiet = ({ toldAt }: LastAlert) =>
    Duration.lessThan(Duration.millis(Math.abs(DateTime.distance(toldAt, now))), quietTime)
  if (Option.isSome(before) && isQuiet(before.value)) {
    return { last: { ...before.value, heldBack: before.value.heldBack + 1 }, tells: Option.none() }
  }
  const heldBack = Option.match(before, { onNone: () => 0, onSome: (alert) => alert.heldBack })
  return { last: { told: to, toldAt: now, heldBack: 0 }, tells: Option.some({ heldBack }) }
}

const longestQuote = 500
const longestName = 100

const cut = (text: string, longest: number) => (text.length > longest ? `${beginning(text, longest)}…` : text)

/** The text of an alert: why, where, how often it was held back before, and what was said. */
export const alertText = (why: string, chat: string, texts: ReadonlyArray<string>, heldBack = 0): string => {
  const before = heldBack === 0 ? "" : ` (held back since the last alert: ${heldBack})`
  return `${why} in the chat with ${cut(chat, longestName)}${before}:\n${cut(texts.join("\n"), longestQuote)}`
}
