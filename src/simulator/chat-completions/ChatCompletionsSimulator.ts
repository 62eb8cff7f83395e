import { HttpRouter, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Clock, Duration, Effect, Either, Option, ParseResult, Schema } from "effect"
import { body, json, listen } from "../SimulatorServer.ts"
import { type ChatRequest, completion, decodeRequest, Script } from "./ChatExchange.ts"

const requestsKept = 2_000

const refusal = (status: number, message: string, code: string) =>
  json({ error: { message, type: "invalid_request_error", param: null, code } }, status)

/** Ends the connection without a byte, or in the middle of the body. */
const breakOff = (answer: Option.Option<Pick<Script, "headers" | "status">>) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    Effect.async<never>(() => {
      const { socket } = NodeHttpServerRequest.toIncomingMessage(request)
      if (Option.isNone(answer)) return void socket.destroy()
      const { headers, status } = answer.value
      const response = NodeHttpServerRequest.toServerResponse(request)
      response.writeHead(status, headers).write('{"choices":[{"mess', () => socket.destroy())
    })
  )

/**
 * Stands in for a chat-completions-compatible provider that knows no field beyond the common ones: answers with a
 * sentence about the last user turn unless the control API under `/_control` scripted something else. `apiKey`, when
 * given, is demanded.
 */
export const start = Effect.fn("ChatCompletionsSimulator.start")(function* (options: {
  readonly port: number
  readonly apiKey: Option.Option<string>
}) {
  let scripts: ReadonlyArray<Script> = []
  const seen: Array<ChatRequest> = []

  const nextScript = Effect.sync(() => {
    const [next, ...later] = scripts
    scripts = next === undefined || next.times <= 1 ? later : [{ ...next, times: next.times - 1 }, ...later]
    return Option.fromNullable(next)
  })

  const perform = Effect.fn("ChatCompletionsSimulator.perform")(function* (script: Script, request: ChatRequest) {
    yield* Effect.sleep(Duration.millis(script.delay_ms))
    if (script.kind === "hang") return yield* Effect.never
    if (script.kind === "drop") return yield* breakOff(Option.none())
    if (script.kind === "break_off") return yield* breakOff(Option.some(script))
    const { headers, status } = script
    if (script.raw !== undefined) return HttpServerResponse.text(script.raw, { status, headers })
    const now = yield* Clock.currentTimeMillis
    return HttpServerResponse.unsafeJson(script.body ?? completion(request, now, script.content), { status, headers })
  })

  const answer = Effect.gen(function* () {
    const { headers, text } = yield* HttpServerRequest.HttpServerRequest
    if (Option.exists(options.apiKey, (key) => headers["authorization"] !== `Bearer ${key}`)) {
      return refusal(401, "Incorrect API key provided.", "invalid_api_key")
    }
    const decoded = decodeRequest(yield* Effect.orDie(text))
    if (Either.isLeft(decoded)) {
      return refusal(400, ParseResult.TreeFormatter.formatErrorSync(decoded.left), "invalid_request")
    }
    seen.push(decoded.right)
    seen.splice(0, seen.length - requestsKept)
    const script = yield* nextScript
    if (Option.isSome(script)) return yield* perform(script.value, decoded.right)
    return json(completion(decoded.right, yield* Clock.currentTimeMillis))
  })

  const reset = Effect.sync(() => {
    scripts = []
    seen.length = 0
    return json({})
  })

  return yield* listen(
    HttpRouter.empty.pipe(
      HttpRouter.post("/chat/completions", answer),
      HttpRouter.post("/v1/chat/completions", answer),
      HttpRouter.post(
        "/_control/answers",
        Effect.map(body(Script), (script) => {
          scripts = [...scripts, script]
          return json(Schema.encodeSync(Script)(script))
        })
      ),
      HttpRouter.get(
        "/_control/requests",
        Effect.sync(() => json(seen))
      ),
      HttpRouter.del("/_control", reset)
    ),
    options.port
  )
})
