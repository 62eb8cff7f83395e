import { Either, Option, Predicate, Schema, String } from "effect"
import { storableText } from "../../platform/domain/StorableText.ts"
import type { ChatAnswer, ChatModelFailure } from "../ChatModel.ts"
import { kindOf, nestedError, providerErrorIn } from "./ProviderError.ts"

/** Why a body carries no reply: the kind, and words for the operator. */
export type NoReply = Pick<ChatModelFailure, "kind" | "message">

const largestCount = 2_147_483_647

const parse = Schema.decodeOption(Schema.parseJson(Schema.Unknown))

const at = (value: unknown, name: string): unknown => (Predicate.isRecord(value) ? value[name] : undefined)
const firstOf = (value: unknown): unknown => (Array.isArray(value) ? value[0] : undefined)
const nonBlank = (value: unknown) => Option.filter(Option.liftPredicate(Predicate.isString)(value), String.isNonEmpty)
const count = (value: unknown) =>
  Option.filter(
    Option.liftPredicate(Predicate.isNumber)(value),
    (n) => Number.isInteger(n) && n >= 0 && n <= largestCount
  )

const thinking = /^(?:\s*<(think|thinking|reasoning)>[\s\S]*?(?:<\/\1>|$))+/i
const endOfThinking = "</think>"

/** Reasoning that a model put in front of its reply is dropped, also where a template swallowed the opening tag. */
const withoutThinking = (text: string): string => {
  const rest = text.replace(thinking, "")
  const end = rest.indexOf(endOfThinking)
  return end < 0 || rest.slice(0, end).includes("<think>") ? rest : rest.slice(end + endOfThinking.length)
}

const isTextPart = (part: unknown) => {
  const type = at(part, "type")
  return type === undefined || type === "text" || type === "output_text"
}

const contentOf = (content: unknown): string => {
  if (typeof content === "string") return content
  const parts: ReadonlyArray<unknown> = Array.isArray(content) ? content : []
  return parts
    .filter(isTextPart)
    .map((part) => Option.getOrElse(nonBlank(at(part, "text")), () => ""))
    .join("")
}

const whyEmpty = (finishReason: unknown): NoReply => {
  switch (finishReason) {
    case "length":
      return { kind: "empty_completion", message: "max_tokens was used up before the model said anything: raise it" }
    case "content_filter":
      return { kind: "refusal", message: "the provider's content filter withheld the reply" }
    case "tool_calls":
      return { kind: "empty_completion", message: "the model called a tool that nobody offered" }
    default:
      return { kind: "empty_completion", message: "the model said nothing" }
  }
}

const noReply = (kind: NoReply["kind"], message: string) => Either.left<NoReply>({ kind, message })

/**
 * The reply in the body of a 2xx. Total: whatever the body is, the answer is a reply or a reason. An error may stand in
 * it, at the top or in the choice; content may be blank, in parts, or nothing but reasoning, which is never shown.
 */
export const readCompletion = (body: string, requestedModel: string): Either.Either<ChatAnswer, NoReply> => {
  const json = Option.getOrUndefined(parse(body))
  if (json === undefined) return noReply("invalid_response", "the provider's answer is not JSON")
  const choice = firstOf(at(json, "choices"))
  const error = Option.orElse(providerErrorIn(json), () => nestedError(choice))
  if (Option.isSome(error)) {
    const status = Option.filter(Option.map(error.value.code, Number), (code) => code >= 400 && code <= 599)
    return noReply(
      kindOf(
        Option.getOrElse(status, () => 500),
        error
      ),
      error.value.message
    )
  }
  const message = at(choice, "message")
  if (!Predicate.isRecord(message)) return noReply("invalid_response", "the provider's answer has no choices")
  const refusal = nonBlank(message["refusal"])
  if (Option.isSome(refusal)) return noReply("refusal", refusal.value)
  const reply = storableText(withoutThinking(contentOf(message["content"]))).trim()
  const finishReason = at(choice, "finish_reason")
  if (reply === "") return Either.left(whyEmpty(finishReason))
  const usage = at(json, "usage")
  return Either.right({
    reply,
    isCutOff: finishReason === "length",
    model: Option.match(nonBlank(at(json, "model")), { onNone: () => requestedModel, onSome: storableText }),
    promptTokens: count(at(usage, "prompt_tokens")),
    completionTokens: count(at(usage, "completion_tokens"))
  })
}

/** Why an answer with a status other than 2xx carries no reply. */
export const readFailure = (status: number, body: string): NoReply => {
  const error = Option.flatMap(parse(body), providerErrorIn)
  const said = Option.match(error, { onNone: () => body.trim(), onSome: ({ message }) => message })
  const hint = status === 404 ? " (does the base URL end as the provider wants, often in /v1?)" : ""
  const words = said === "" ? `the provider answered ${status} without a word` : said
  return { kind: kindOf(status, error), message: `${words}${hint}` }
}

/** `<base_url>/chat/completions`, joined as text: a closing slash or an ending already there is dropped, a query stays. */
export const endpointOf = (baseUrl: string): string => {
  const [, path = "", query = ""] = /^([^?#]*)(\?[^#]*)?/.exec(baseUrl.trim()) ?? []
  return `${path.replace(/\/+$/, "").replace(/\/chat\/completions$/, "")}/chat/completions${query}`
}
