import { beginning } from "../../platform/domain/StorableText.ts"

const segments = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** Where a text is best cut, from best to worst: between paragraphs, lines, sentences, words. */
const seams = [/\n\s*\n/g, /\n/g, /[.!?…。！？]["'”’)]*\s+/g, /\s+/g]

/** The end of the longest piece that ends at a seam within the limit, of which at least half is used. */
const seamWithin = (text: string, limit: number): number => {
  for (const seam of seams) {
    const ends = [...text.slice(0, limit + 1).matchAll(seam)]
      .map((match) => match.index + match[0].trimEnd().length)
      .filter((end) => end > limit / 2 && end <= limit)
    const last = ends.at(-1)
    if (last !== undefined) return last
  }
  return 0
}

/**
 * No letter is cut from its accents and no emoji in two, unless one alone is longer than the limit: then it is cut between
 * its characters, which stay whole.
 */
const graphemeWithin = (text: string, limit: number): number => {
  const far = [...segments.segment(text.slice(0, limit + 64))]
  const starts = far.map(({ index }) => index).filter((index) => index > 0 && index <= limit)
  return starts.at(-1) ?? (beginning(text, limit).length || limit)
}

/**
 * A reply in as many messages as the platform's limit makes of it, in order; nothing but space around the cuts is lost.
 * Empty for a blank text.
 */
export const splitReply = (text: string, limit: number): ReadonlyArray<string> => {
  const parts: Array<string> = []
  let rest = text.trim()
  while (rest.length > limit) {
    const seam = seamWithin(rest, limit)
    const end = seam > 0 ? seam : graphemeWithin(rest, limit)
    parts.push(rest.slice(0, end).trimEnd())
    rest = rest.slice(end).trimStart()
  }
  return rest === "" ? parts : [...parts, rest]
}
