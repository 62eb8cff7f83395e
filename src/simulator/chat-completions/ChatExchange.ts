import { Schema } from "effect"

const Turn = Schema.Struct({ role: Schema.Literal("system", "user", "assistant"), content: Schema.String })

/** A request of which nothing is unknown: the strictest providers refuse a field that they do not know. */
const ChatRequest = Schema.Struct({
  model: Schema.NonEmptyString,
  messages: Schema.NonEmptyArray(Turn),
  temperature: Schema.optional(Schema.Number.pipe(Schema.between(0, 2))),
  max_tokens: Schema.optional(Schema.Int.pipe(Schema.positive())),
  max_completion_tokens: Schema.optional(Schema.Int.pipe(Schema.positive())),
  stream: Schema.optional(Schema.Literal(false))
})
export type ChatRequest = typeof ChatRequest.Type

export const decodeRequest = Schema.decodeEither(Schema.parseJson(ChatRequest), { onExcessProperty: "error" })

const withDefault = <A, I>(schema: Schema.Schema<A, I>, value: A) =>
  Schema.optionalWith(schema, { default: () => value })

/**
 * What the next `times` requests get: a reply (`content`), a JSON `body` or any `raw` text with `status` and `headers`,
 * after `delay_ms`; or an answer that never comes (`hang`), a connection that ends at once (`drop`) or in the middle of
 * the body (`break_off`).
 */
export const Script = Schema.Struct({
  kind: withDefault(Schema.Literal("answer", "hang", "drop", "break_off"), "answer"),
  content: Schema.optional(Schema.String),
  status: withDefault(Schema.Int.pipe(Schema.between(200, 599)), 200),
  body: Schema.optional(Schema.Unknown),
  raw: Schema.optional(Schema.String),
  headers: withDefault(Schema.Record({ key: Schema.String, value: Schema.String }), {}),
  delay_ms: withDefault(Schema.Int.pipe(Schema.nonNegative()), 0),
  times: withDefault(Schema.Int.pipe(Schema.positive()), 1)
})
export type Script = typeof Script.Type

const longestQuote = 200

const politeReply = ({ messages }: ChatRequest) => {
  const said = messages.filter(({ role }) => role === "user").at(-1)?.content ?? ""
  const quote = said.length > longestQuote ? `${said.slice(0, longestQuote)}…` : said
  return `Thank you for your message: “${quote}”. How can I help?`
}

const tokensOf = (text: string) => Math.max(1, Math.ceil(text.length / 4))

/** The body of a good answer; without `content`, with a sentence that quotes the last user turn. */
export const completion = (request: ChatRequest, now: number, content: string = politeReply(request)) => {
  const prompt_tokens = request.messages.reduce((sum, turn) => sum + tokensOf(turn.content), 0)
  const completion_tokens = tokensOf(content)
  return {
    id: `chatcmpl-${now}`,
    object: "chat.completion",
    created: Math.floor(now / 1000),
    model: request.model,
    choices: [{ index: 0, message: { role: "assistant", content, refusal: null }, finish_reason: "stop" }],
    usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
  }
}
