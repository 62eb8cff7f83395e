import { HttpRouter, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Clock, Duration, Effect, Option, Schema, Stream } from "effect"
import { body, json, listen } from "../SimulatorServer.ts"

const ChatRequest = Schema.Struct({
  model: Schema.String,
  messages: Schema.NonEmptyArray(Schema.Struct({ role: Schema.String, content: Schema.String })),
  temperature: Schema.optional(Schema.Number),
  max_tokens: Schema.optional(Schema.Number),
  max_completion_tokens: Schema.optional(Schema.Number)
})

/** The next answer, or several: a reply, or any status and body, late, never, or broken off. */
const Script = Schema.Struct({
  content: Schema.optional(Schema.String),
  status: Schema.optionalWith(Schema.Int, { default: () => 200 }),
  body: Schema.optional(Schema.Unknown),
  raw: Schema.optional(Schema.String),
  headers: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.String }), { default: () => ({}) }),
  delay_ms: Schema.optionalWith(Schema.Int, { default: () => 0 }),
  kind: Schema.optionalWith(Schema.Literal("answer", "hang", "break_off"), { default: () => "answer" as const }),
  times: Schema.optionalWith(Schema.Int, { default: () => 1 })
})

const tokensOf = (text: string) => Math.max(1, Math.ceil(text.length / 4))

const completion = (model: string, content: string, prompt: string, now: number) => ({
  id: `chatcmpl-${now}`,
  object: "chat.completion",
  created: Math.floor(now / 1000),
  model,
  choices: [{ index: 0, message: { role: "assistant", content, refusal: null }, finish_reason: "stop" }],
  usage: {
    prompt_tokens: tokensOf(prompt),
    completion_tokens: tokensOf(content),
    total_tokens: tokensOf(prompt) + tokensOf(content)
  }
})

/**
 * Stands in for a chat-completions-compatible provider: answers with a sentence about the last user turn unless the
 * control API under `/_control` scripted something else. `apiKey`, when given, is demanded.
 */
export const start = Effect.fn("ChatCompletionsSimulator.start")(function* (options: {
  readonly port: number
  readonly apiKey: Option.Option<string>
}) {
  const scripts: Array<{ -readonly [Key in keyof typeof Script.Type]: (typeof Script.Type)[Key] }> = []
  const seen: Array<unknown> = []

  const answer = Effect.gen(function* () {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    if (Option.isSome(options.apiKey) && headers["authorization"] !== `Bearer ${options.apiKey.value}`) {
      return json(
        { error: { message: "Incorrect API key provided.", type: "invalid_request_error", code: "invalid_api_key" } },
        401
      )
    }
    const request = yield* body(ChatRequest)
    seen.push(request)
    const script = scripts.find(({ times }) => times > 0)
    const lastUser = request.messages.filter(({ role }) => role === "user").at(-1)?.content ?? ""
    const prompt = request.messages.map(({ content }) => content).join("\n")
    const now = yield* Clock.currentTimeMillis
    const reply = (content: string) => completion(request.model, content, prompt, now)
    if (script === undefined) return json(reply(`Thank you for your message: “${lastUser}”. How can I help?`))
    script.times -= 1
    yield* Effect.sleep(Duration.millis(script.delay_ms))
    if (script.kind === "hang") return yield* Effect.never
    if (script.kind === "break_off") {
      return HttpServerResponse.stream(
        Stream.concat(Stream.make(new TextEncoder().encode('{"choices"')), Stream.fail("off"))
      )
    }
    const text = script.raw ?? JSON.stringify(script.body ?? reply(script.content ?? "Yes."))
    return HttpServerResponse.text(text, {
      status: script.status,
      headers: script.headers,
      contentType: "application/json"
    })
  })

  return yield* listen(
    HttpRouter.empty.pipe(
      HttpRouter.post("/chat/completions", answer),
      HttpRouter.post("/v1/chat/completions", answer),
      HttpRouter.post(
        "/_control/answers",
        Effect.map(body(Script), (script) => {
          scripts.push({ ...script })
          return json(script)
        })
      ),
      HttpRouter.get(
        "/_control/requests",
        Effect.sync(() => json(seen))
      )
    ),
    options.port
  )
})
