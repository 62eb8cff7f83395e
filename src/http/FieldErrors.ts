import type { ParseResult } from "effect"
import type { FieldErrors } from "../api/Problem.ts"

type Issue = ParseResult.ArrayFormatterIssue

/** What a schema says by itself: what it expected, then the value that it got. */
const ownWords = /^Expected (.+?), actual /s

const expectedIn = ({ message }: Issue): string | undefined => ownWords.exec(message)?.[1]

const isWithin = (path: ReadonlyArray<PropertyKey>, inner: ReadonlyArray<PropertyKey>): boolean =>
  path.every((step, position) => inner[position] === step)

/** What a field could have been instead of what was sent: no help to whoever sent something. */
const isAlternative = (issue: Issue): boolean => ["undefined", "null"].includes(expectedIn(issue) ?? "")

const kinds: { readonly [kind: string]: string } = {
  string: "must be a string",
  number: "must be a number",
  boolean: "must be true or false",
  "a Universally Unique Identifier": "must be a UUID",
  object: "must be an object"
}

const literal = /^"(.*)"$/s

const sentenceOf = (expected: string): string => {
  if (expected.startsWith("{ ")) return "must be an object"
  if (expected.startsWith("ReadonlyArray<")) return "must be a list"
  return kinds[expected] ?? `must be ${expected}`
}

/** One sentence for all the words that a field may be; the others as they are. No sentence quotes what was sent. */
const sentences = (issues: ReadonlyArray<Issue>): ReadonlyArray<string> => {
  const words: Array<string> = []
  const told: Array<string> = []
  for (const issue of issues) {
    const expected = expectedIn(issue)
    const word = expected === undefined ? undefined : literal.exec(expected)?.[1]
    if (word !== undefined) words.push(word)
    else told.push(expected === undefined ? issue.message : sentenceOf(expected))
  }
  const choice =
    words.length === 0 ? [] : [words.length === 1 ? `must be ${words[0]}` : `must be one of ${words.join(", ")}`]
  return [...new Set([...choice, ...told])]
}

/**
 * Every failing field by dotted path (contract, part 2): several sentences where a field fails in several ways. Values are
 * never repeated, because a secret may stand in the wrong field.
 */
export const fieldErrors = (issues: ReadonlyArray<Issue>): FieldErrors => {
  const telling = issues.filter((issue) => !isAlternative(issue))
  const bare = issues.filter((issue) => isAlternative(issue) && !telling.some(({ path }) => isWithin(issue.path, path)))
  const fields = new Map<string, Array<Issue>>()
  for (const issue of [...telling, ...bare]) {
    const field = issue.path.length === 0 ? "body" : issue.path.map(String).join(".")
    fields.set(field, [...(fields.get(field) ?? []), issue])
  }
  return Object.fromEntries([...fields].map(([field, ofField]) => [field, sentences(ofField)]))
}
