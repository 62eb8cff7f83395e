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

/** The least that works: no key that a strict provider does not know, and none without a value. */
export const bodyOf = ({ maxTokens, model, temperature, turns }: ChatRequest, quirks: Quirks) => ({
  model,
  messages: turns.map(({ content, role }) => ({ role, content })),
  ...(Option.isSome(temperature) && !quirks.withoutTemperature ? { temperature: temperature.value } : {}),
  ...(Option.isSome(maxTokens)
    ? { [quirks.completionTokens ? "max_completion_tokens" : "max_tokens"]: maxTokens.value }
    : {})
})

const unsupported = /unsupported|not support|only the default|use '?max_completion_tokens/i

const refuses = ({ code, message, param }: ProviderError, field: string) =>
  (Option.contains(param, field) || message.includes(field)) &&
  (unsupported.test(message) || Option.exists(code, (word) => unsupported.test(word)))

/**
 * What a 400 teaches: the quirks to ask with again, or none when the refusal is about something else. A value out of
 * range is no quirk: it would be left out for ever.
 */
export const learn = (request: ChatRequest, known: Quirks, error: ProviderError): Option.Option<Quirks> => {
  if (Option.isSome(request.maxTokens) && !known.completionTokens && refuses(error, "max_tokens")) {
    return Option.some({ ...known, completionTokens: true })
  }
  if (Option.isSome(request.temperature) && !known.withoutTemperature && refuses(error, "temperature")) {
    return Option.some({ ...known, withoutTemperature: true })
  }
  return Option.none()
}
