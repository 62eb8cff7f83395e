const sentenceEnd = /[.!?…。！？]["'”’)\]]*(?=\s|$)|[。！？]["'”’」』]*|\n/gu

/** What is left of an emoji or a letter whose bytes came in part, and what joined it to the one before. */
const brokenEnd = /[\ufffd\u200d\s]+$/u

/** The longest text that is cut off word by word: nobody writes a sentence of that length. */
const longestRest = 400

/**
 * A reply that broke off in the middle (`finish_reason` is `length`), up to the end of its last whole sentence or line;
 * where there is none near the end, up to its last word, with an ellipsis. Empty where nothing whole is left.
 */
export const wholeSentences = (reply: string): string => {
  const text = reply.replace(brokenEnd, "")
  if (text === "") return ""
  const end = [...text.matchAll(sentenceEnd)].map((match) => match.index + match[0].length).at(-1) ?? 0
  const whole = text.slice(0, end).trimEnd()
  if (whole !== "" && text.length - end <= longestRest) return whole
  const words = text.slice(0, Math.max(0, text.search(/\s\S*$/u))).trimEnd()
  return `${words === "" ? text : words}…`
}
