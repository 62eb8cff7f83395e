const longest = 60

/** A URL word made from a name: lower-case ASCII letters, digits and single dashes; `fallback` where nothing is left. */
export const slugOf = (name: string, fallback: string): string => {
  const word = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, longest)
    .replace(/-+$/, "")
  return word === "" || /^[0-9a-f]{8}-[0-9a-f]{4}-/.test(word) ? fallback : word
}

/** The nth try for a unique slug: the word itself, then `word-2`, `word-3`, … */
export const candidate = (slug: string, attempt: number): string => (attempt <= 1 ? slug : `${slug}-${attempt}`)

/** Whether a text can be a slug at all. */
export const isSlug = (text: string): boolean => /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(text)
