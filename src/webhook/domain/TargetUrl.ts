/**
 * Why a URL cannot be a webhook target whatever it resolves to (contract, part 4, "Webhooks"), as the rest of a sentence
 * about the field `url`; null when it can.
 */
export const urlProblem = (text: string): string | null => {
  if (text.length > 2048) return "must have at most 2048 characters"
  if (!URL.canParse(text)) return "must be a URL"
  const url = new URL(text)
  if (url.protocol !== "http:" && url.protocol !== "https:") return "must be an http or https URL"
  if (url.username !== "" || url.password !== "") return "must not contain credentials"
  return null
}
