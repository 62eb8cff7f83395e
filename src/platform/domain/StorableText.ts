/**
 * A text as PostgreSQL, readers of JSON and the platforms take it: without NUL, and with U+FFFD for half a surrogate pair,
 * which is what is left of an emoji that somebody cut in the middle.
 */
export const storableText = (text: string): string => text.replaceAll("\0", "").toWellFormed()

/** The same of an id or an address, of which nothing is left out: it never becomes empty. */
export const storableId = (id: string): string => id.replaceAll("\0", "\ufffd").toWellFormed()

/** At most so much of a text, in UTF-16 units, without half a surrogate pair where it is cut. */
export const beginning = (text: string, longest: number): string =>
  text.length > longest ? text.slice(0, longest).replace(/[\ud800-\udbff]$/, "") : text
