import { Array, Option } from "effect"
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

const longestQuote = 500
const folded = (text: string) => text.normalize("NFKC").toLowerCase()

/** The first of the keywords that one of the texts contains, whatever the case. */
export const keywordIn = ({ keywords }: ManagerAlerts, texts: ReadonlyArray<string>): Option.Option<string> =>
  Array.findFirst(keywords, (keyword) => texts.some((text) => folded(text).includes(folded(keyword))))

/** The text of an alert: why, where, and what was said. */
export const alertText = (why: string, chat: string, texts: ReadonlyArray<string>): string => {
  const said = texts.join("\n")
  const quote = said.length > longestQuote ? `${said.slice(0, longestQuote)}…` : said
  return `${why} in the chat with ${chat}:\n${quote.replace(/[\ud800-\udbff](?![\udc00-\udfff])/g, "")}`
}
