import { Option, Predicate, Schema } from "effect"
import type { ChatModelFailure } from "../ChatModel.ts"

/** An error as a provider tells it; `code` may be the provider's word or a status as text. */
export interface ProviderError {
  readonly message: string
  readonly type: Option.Option<string>
  readonly param: Option.Option<string>
  readonly code: Option.Option<string>
}

/** How deep errors are wrapped in others. */
const longestWrap = 4

const word = (value: unknown): Option.Option<string> => {
  if (typeof value === "number") return Option.some(`${value}`)
  return typeof value === "string" && value.trim() !== "" ? Option.some(value.trim()) : Option.none()
}

const parse = Schema.decodeOption(Schema.parseJson(Schema.Unknown))

/** A validator's complaint about one field, as pydantic has it: where, and what. */
const complaint = (detail: unknown): Option.Option<string> => {
  if (!Predicate.isRecord(detail)) return word(detail)
  const where = Array.isArray(detail["loc"]) ? detail["loc"].join(".") : ""
  return Option.map(word(detail["msg"]), (what) => (where === "" ? what : `${where}: ${what}`))
}

/** What is said in a text, in complaints, or in what they are wrapped in, as an object or as JSON in a text. Total. */
const wordsIn = (value: unknown, depth = 0): Option.Option<string> => {
  if (depth > longestWrap) return Option.none()
  if (Array.isArray(value)) {
    const said = value.flatMap((detail) => Option.toArray(complaint(detail)))
    return said.length === 0 ? Option.none() : Option.some(said.join("; "))
  }
  if (Predicate.isRecord(value)) {
    const inner = [value["message"], value["detail"], value["error"]].map((part) => wordsIn(part, depth + 1))
    return Option.firstSomeOf(inner)
  }
  const plain = word(value)
  const wrapped = Option.filter(plain, (text) => /^[[{]/.test(text))
  return Option.orElse(
    Option.flatMap(Option.flatMap(wrapped, parse), (json) => wordsIn(json, depth + 1)),
    () => plain
  )
}

/** What a router says, with the words of the provider behind it. */
const messageOf = (detail: { readonly [key: string]: unknown }): Option.Option<string> => {
  const { metadata } = detail
  const behind = wordsIn(Predicate.isRecord(metadata) ? metadata["raw"] : detail["cause"])
  const said = wordsIn(detail["message"])
  return Option.isSome(said) && Option.isSome(behind) ? Option.some(`${said.value}: ${behind.value}`) : said
}

const errorOf = (detail: { readonly [key: string]: unknown }): Option.Option<ProviderError> => {
  const [type, param, code] = [word(detail["type"]), word(detail["param"]), word(detail["code"])]
  return Option.map(Option.firstSomeOf([messageOf(detail), code, type]), (message) => ({
    message,
    type,
    param,
    code
  }))
}

/** The error under `error`, an object or a text; none for a value without one. */
export const nestedError = (value: unknown): Option.Option<ProviderError> => {
  const error = Predicate.isRecord(value) ? value["error"] : undefined
  return Predicate.isRecord(error) ? errorOf(error) : errorOf({ message: error })
}

/**
 * The error in a parsed body, in any of the shapes in use: under `error`, or at the top (`message`, `detail`) of a body
 * without choices, or one of these in an array. None for a body without one. Total.
 */
export const providerErrorIn = (json: unknown): Option.Option<ProviderError> => {
  const body: unknown = Array.isArray(json) ? json[0] : json
  if (!Predicate.isRecord(body)) return Option.none()
  if ("choices" in body) return nestedError(body)
  return Option.orElse(nestedError(body), () => errorOf({ ...body, message: body["message"] ?? body["detail"] }))
}

/** Of OpenAI and those who speak like it, Gemini, Anthropic, llama.cpp, vLLM. */
const tooLong =
  /context[ _-]?(length|window|size)|maximum context|prompt is too long|token count.{0,40}exceeds|reduce the length of/i

const isTooLong = (error: ProviderError): boolean =>
  [Option.some(error.message), error.code, error.type].some((said) =>
    Option.exists(said, (words) => tooLong.test(words))
  )

/** The kind of failure that a status says, and, for a spent quota, the error's own word. */
export const kindOf = (status: number, error: Option.Option<ProviderError>): ChatModelFailure["kind"] => {
  if (status === 401 || status === 403) return "auth"
  if (status === 402) return "quota"
  if (status === 429) {
    const isQuota = Option.exists(error, ({ code, type }) =>
      [code, type].some((said) => Option.contains(said, "insufficient_quota"))
    )
    return isQuota ? "quota" : "rate_limited"
  }
  if (status === 408) return "timeout"
  if (Option.exists(error, isTooLong)) return "context_too_long"
  if (status < 400) return "invalid_response"
  return status >= 500 ? "provider_error" : "bad_request"
}
