import { Option } from "effect"
import type { ChatRequest } from "../ChatModel.ts"
import type { ProviderError } from "./ProviderError.ts"

/** What a provider's model does not take in the form that most do. */
export interface Quirks {
  /** `max_completion_tokens` instead of `max_tokens`. */
  readonly completionTokens: boolean
  readonly withoutTemperature: boolean
}

export const noQuirks: Quirks = { completionTokens: false, withoutTemperature: false }

export const isSameForm = (one: Quirks, other: Quirks): boolean =>
  one.completionTokens === other.completionTokens && one.withoutTemperature === other.withoutTemperature

/** The least that works: no key that a strict provider does not know, and none without a value. */
export const bodyOf = ({ maxTokens, model, temperature, turns }: ChatRequest, quirks: Quirks) => ({
  model,
  messages: turns.map(({ content, role }) => ({ role, content })),
  ...(Option.isSome(temperature) && !quirks.withoutTemperature ? { temperature: temperature.value } : {}),
  ...(Option.isSome(maxTokens)
    ? { [quirks.completionTokens ? "max_completion_tokens" : "max_tokens"]: maxTokens.value }
    : {})
})

/**
 * How providers say that a model does not take a parameter, or no other value than its own: OpenAI, Azure OpenAI and Groq;
 * LiteLLM; Anthropic; Moonshot; Mistral and others that validate by pydantic; Gemini.
 */
const refusal = new RegExp(
  [
    "unsupported|(not|n't) support|no longer supported|only the default|use '?max_completion_tokens",
    "is deprecated|may only be set to",
    "only [\\d.]+ is (allowed|supported)",
    "extra inputs are not permitted|extra_forbidden",
    "unknown name|unknown parameter|unrecognized (request )?(argument|parameter)"
  ].join("|"),
  "i"
)

const refuses = ({ code, message, param }: ProviderError, field: string) =>
  (Option.contains(param, field) || message.includes(field)) &&
  (refusal.test(message) || Option.exists(code, (word) => refusal.test(word)))

/** The answers that may be a refusal of what was asked with. */
export const mayRefuse = (status: number): boolean => status === 400 || status === 422

/**
 * What a refusal teaches: the quirks to ask with again, or none when the refusal is about something else. A value out of
 * range is no quirk: it would be left out for ever. A model that was replaced may want `max_tokens` again.
 */
export const learn = (request: ChatRequest, known: Quirks, error: ProviderError): Option.Option<Quirks> => {
  if (Option.isSome(request.maxTokens) && !known.completionTokens && refuses(error, "max_tokens")) {
    return Option.some({ ...known, completionTokens: true })
  }
  if (Option.isSome(request.temperature) && !known.withoutTemperature && refuses(error, "temperature")) {
    return Option.some({ ...known, withoutTemperature: true })
  }
  if (Option.isSome(request.maxTokens) && known.completionTokens && refuses(error, "max_completion_tokens")) {
    return Option.some({ ...known, completionTokens: false })
  }
  return Option.none()
}
