/**
 * The same JSON without a person's names: every text, key or value, that is one of them reads `substitute` instead. Text
 * that merely contains a name is left alone: nothing that we write does.
 */
export const withoutNames = (json: unknown, names: ReadonlySet<string>, substitute: string): unknown => {
  const blank = (text: string) => (names.has(text) ? substitute : text)
  const walk = (value: unknown): unknown => {
    if (typeof value === "string") return blank(value)
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [blank(key), walk(inner)]))
  }
  return walk(json)
}
