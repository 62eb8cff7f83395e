import { Either, Option, Schema } from "effect"
import type { ChatAnswer, ChatModelFailure } from "../ChatModel.ts"

type Kind = ChatModelFailure["kind"]

/** Why a body carries no reply: the kind, and the provider's own words for the operator. */
export interface NoReply {
  readonly kind: Kind
  readonly message: string
}

const Text = Schema.optional(Schema.NullOr(Schema.String))
const Count = Schema.optional(Schema.NullOr(Schema.Number))

const Part = Schema.Struct({ type: Schema.optional(Schema.String), text: Text })

const Answered = Schema.Struct({
  model: Text,
  choices: Schema.NonEmptyArray(
    Schema.Struct({
      finish_reason: Text,
      message: Schema.Struct({
        content: Schema.optional(Schema.NullOr(Schema.Union(Schema.String, Schema.Array(Part)))),
        refusal: Text
      })
    })
  ),
  usage: Schema.optional(Schema.NullOr(Schema.Struct({ prompt_tokens: Count, completion_tokens: Count })))
})

const ErrorDetail = Schema.Struct({ message: Text, type: Text, param: Text, code: Schema.optional(Schema.Unknown) })
const ErrorBody = Schema.Struct({
  error: Schema.optional(Schema.NullOr(Schema.Union(Schema.String, ErrorDetail))),
  message: Text
})

const decodeAnswer = Schema.decodeUnknownOption(Answered)
const decodeError = Schema.decodeUnknownOption(Schema.Union(ErrorBody, Schema.NonEmptyArray(ErrorBody)))
const parse = Schema.decodeOption(Schema.parseJson(Schema.Unknown))

const longestMessage = 300

const clipped = (text: string) => text.replace(/\s+/g, " ").trim().slice(0, longestMessage)

/** The provider's error in any of the shapes that providers use; none for a body without one. */
export const providerError = (
  text: string
): Option.Option<{ readonly message: string; readonly param: Option.Option<string> }> =>
  Option.flatMap(Option.flatMap(parse(text), decodeError), (found) => {
    const body = "length" in found ? found[0] : found
    if (body.error === undefined || body.error === null) {
      return Option.map(Option.fromNullable(body.message), (message) => ({
        message: clipped(message),
        param: Option.none()
      }))
    }
    const detail = typeof body.error === "string" ? { message: body.error } : body.error
    const param = "param" in detail ? Option.fromNullable(detail.param) : Option.none<string>()
    return Option.some({ message: clipped(detail.message ?? "no message"), param })
  })

/** Words for the operator about a body that is no success. */
export const errorMessage = (text: string): string =>
  Option.match(providerError(text), { onNone: () => clipped(text), onSome: ({ message }) => message })

/** Reasoning that a model put in front of its reply; an unclosed block leaves nothing. */
const withoutThinking = (text: string): string => text.replace(/^\s*<think>[\s\S]*?(<\/think>|$)/, "").trim()

const contentOf = (content: string | ReadonlyArray<typeof Part.Type> | null | undefined): string =>
  typeof content === "string"
    ? content
    : (content ?? [])
        .filter(({ type }) => type === undefined || type === "text")
        .map(({ text }) => text ?? "")
        .join("")

const noReply = (kind: Kind, message: string) => Either.left<NoReply>({ kind, message })

/** The reply in a 2xx body. An error may hide in one, content may be blank, in parts, or nothing but reasoning. */
export const readCompletion = (text: string, model: string): Either.Either<ChatAnswer, NoReply> => {
  const json = parse(text)
  if (Option.isNone(json)) return noReply("invalid_response", "the answer is not JSON")
  const answered = decodeAnswer(json.value)
  if (Option.isNone(answered)) {
    return Option.match(providerError(text), {
      onNone: () => noReply("invalid_response", "the answer has no choices"),
      onSome: ({ message }) => noReply("provider_error", message)
    })
  }
  const { choices, usage } = answered.value
  const { finish_reason, message } = choices[0]
  if (typeof message.refusal === "string" && message.refusal !== "") return noReply("refusal", clipped(message.refusal))
  const reply = withoutThinking(contentOf(message.content))
  if (reply === "") {
    const hint = finish_reason === "length" ? ": raise max_tokens" : ""
    return noReply("empty_completion", `the model said nothing${hint}`)
  }
  return Either.right({
    reply,
    model: answered.value.model ?? model,
    promptTokens: Option.fromNullable(usage?.prompt_tokens),
    completionTokens: Option.fromNullable(usage?.completion_tokens)
  })
}

/** `<base_url>/chat/completions`, whatever slash or doubled ending the base comes with; a query stays. */
export const endpointOf = (baseUrl: string): string => {
  const [base = "", query] = baseUrl.trim().split("?", 2)
  const path = base.replace(/\/+$/, "").replace(/\/chat\/completions$/, "")
  return `${path}/chat/completions${query === undefined ? "" : `?${query}`}`
}

/** The kind of failure that a status says. */
export const kindOf = (status: number): Kind => {
  if (status === 401 || status === 403) return "auth"
  if (status === 402) return "quota"
  if (status === 429) return "rate_limited"
  if (status === 408) return "timeout"
  return status >= 500 ? "provider_error" : "bad_request"
}
