import { assert, describe, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Deferred, Duration, Effect, Option, Redacted } from "effect"
import { ChatModel } from "../../../src/reply/ChatModel.ts"
import { chatProvider, chatRequest, driver, faultyProvider, providerKey } from "../../support/ChatProvider.ts"

const failureOf = (request: ReturnType<typeof chatRequest>) =>
  Effect.flatMap(ChatModel, (model) => Effect.flip(model.complete(request)))

layer(driver, { excludeTestServices: true })("chat completions", (it) => {
  describe("a request", () => {
    it.scoped("is the least that works, and is answered", () =>
      Effect.gen(function* () {
        const { complete } = yield* ChatModel
        const { requests, script, url } = yield* chatProvider
        yield* script({ content: "Yes, on weekdays." })
        const answer = yield* complete(chatRequest(`${url}/v1/`))
        assert.strictEqual(answer.reply, "Yes, on weekdays.")
        assert.strictEqual(answer.model, "m-1")
        assert.isTrue(Option.isSome(answer.promptTokens) && Option.isSome(answer.completionTokens))
        deepStrictEqual(yield* requests, [{ model: "m-1", messages: chatRequest("").turns }])
      })
    )

    it.scoped("carries temperature and limit when they are set", () =>
      Effect.gen(function* () {
        const { complete } = yield* ChatModel
        const { requests, url } = yield* chatProvider
        yield* complete(chatRequest(url, { temperature: Option.some(0.7), maxTokens: Option.some(64) }))
        const [{ max_tokens, temperature }] = yield* requests
        deepStrictEqual([temperature, max_tokens], [0.7, 64])
      })
    )

    it.scoped("has the shape that every provider knows", () =>
      Effect.gen(function* () {
        const { complete } = yield* ChatModel
        const heads: Array<unknown> = []
        const url = yield* faultyProvider((request, response) => {
          const { accept, authorization, traceparent } = request.headers
          heads.push([request.method, request.url, authorization, accept, request.headers["content-type"], traceparent])
          response.end('{"choices":[{"message":{"content":"Yes."}}]}')
        })
        yield* complete(chatRequest(`${url}/v1/chat/completions?api-version=1`))
        const path = "/v1/chat/completions?api-version=1"
        const json = "application/json"
        deepStrictEqual(heads, [["POST", path, `Bearer ${providerKey}`, json, json, undefined]])
      })
    )
  })

  describe("a model's refusal", () => {
    const refusal = (param: string, message: string) => ({
      status: 400,
      body: { error: { message, type: "invalid_request_error", param, code: "unsupported_parameter" } }
    })

    it.scoped("of max_tokens and of temperature is learnt once", () =>
      Effect.gen(function* () {
        const { complete } = yield* ChatModel
        const { requests, script, url } = yield* chatProvider
        const request = chatRequest(url, { temperature: Option.some(0.7), maxTokens: Option.some(64) })
        yield* script(
          refusal("max_tokens", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        )
        yield* script(
          refusal("temperature", "Unsupported value: 'temperature' does not support 0.7. Only the default (1).")
        )
        yield* complete(request)
        yield* complete(request)
        yield* complete({ ...request, model: "m-2" })
        const seen: ReadonlyArray<{ readonly [field: string]: unknown }> = yield* requests
        deepStrictEqual(
          seen.map(({ max_completion_tokens, max_tokens, temperature }) => [
            max_tokens ?? null,
            max_completion_tokens ?? null,
            temperature ?? null
          ]),
          [
            [64, null, 0.7],
            [null, 64, 0.7],
            [null, 64, null],
            [null, 64, null],
            [64, null, 0.7]
          ]
        )
      })
    )

    it.scoped("of a value is none to learn from", () =>
      Effect.gen(function* () {
        const { requests, script, url } = yield* chatProvider
        const message = "temperature must be at most 1"
        yield* script({ status: 400, body: { error: { message, param: "temperature", code: "invalid_value" } } })
        const failure = yield* failureOf(chatRequest(url, { temperature: Option.some(1.5) }))
        deepStrictEqual([failure.kind, failure.message], ["bad_request", message])
        assert.lengthOf(yield* requests, 1)
      })
    )

    it.scoped("that goes on is asked about no more than twice", () =>
      Effect.gen(function* () {
        const { requests, script, url } = yield* chatProvider
        yield* script({ ...refusal("max_tokens", "max_tokens is not supported"), times: 9 })
        const failure = yield* failureOf(chatRequest(url, { maxTokens: Option.some(5), temperature: Option.some(1) }))
        assert.strictEqual(failure.kind, "bad_request")
        assert.lengthOf(yield* requests, 2)
      })
    )
  })

  describe("a failure", () => {
    it.scoped("tells the provider's own words, without the key", () =>
      Effect.gen(function* () {
        const { script, url } = yield* chatProvider
        const message = `${"x".repeat(290)} key ${providerKey} is wrong`
        yield* script({ status: 401, body: { error: { message } } })
        yield* script({ status: 502, raw: `<html>${providerKey}</html>` })
        yield* script({ body: { error: { message: `no ${providerKey}` } } })
        for (const kind of ["auth", "provider_error", "provider_error"]) {
          const failure = yield* failureOf(chatRequest(url))
          assert.strictEqual(failure.kind, kind)
          assert.notInclude(failure.message, providerKey.slice(0, 6))
          assert.isAtMost(failure.message.length, 300)
        }
      })
    )

    it.scoped("of a wrong or an empty key is auth", () =>
      Effect.gen(function* () {
        const { url } = yield* chatProvider
        for (const key of ["wrong", "", "line\nbreak"]) {
          const failure = yield* failureOf(chatRequest(url, { apiKey: Redacted.make(key) }))
          assert.strictEqual(failure.kind, key === "line\nbreak" ? "network" : "auth")
          if (key !== "line\nbreak") assert.strictEqual(failure.message, "Incorrect API key provided.")
        }
      })
    )

    it.scoped("says how long to wait, in seconds or until a date", () =>
      Effect.gen(function* () {
        const { script, url } = yield* chatProvider
        const inTwoMinutes = () => new Date(Date.now() + 120_000).toUTCString()
        const waits: Array<number | null> = []
        for (const header of ["7", "1.5", inTwoMinutes, "Wed, 21 Oct 2015 07:28:00 GMT", "soon", "-5"]) {
          const headers = { "retry-after": typeof header === "string" ? header : header() }
          yield* script({ status: 429, headers, body: { error: { message: "Slow down." } } })
          const failure = yield* failureOf(chatRequest(url))
          deepStrictEqual([failure.kind, failure.status], ["rate_limited", Option.some(429)])
          waits.push(Option.getOrNull(Option.map(failure.retryAfter, Duration.toSeconds)))
        }
        const [seconds, fraction, date, past, ...wrong] = waits
        deepStrictEqual([seconds, fraction, past, wrong], [7, 1.5, 0, [null, null]])
        assert.isAbove(date ?? 0, 60)
        assert.isAtMost(date ?? Infinity, 120)
      })
    )

    it.scoped("of the network is told apart from one of time", () =>
      Effect.gen(function* () {
        const { script, url } = yield* chatProvider
        const kinds: Array<string> = []
        const failWithin = (timeout: Duration.DurationInput) => (answer: object) =>
          Effect.gen(function* () {
            yield* script(answer)
            kinds.push((yield* failureOf(chatRequest(url, { timeout: Duration.decode(timeout) }))).kind)
          })
        yield* Effect.forEach([{ kind: "drop" }, { kind: "break_off" }], failWithin("10 seconds"))
        yield* Effect.forEach([{ kind: "hang" }, { delay_ms: 5_000 }], failWithin("300 millis"))
        kinds.push((yield* failureOf(chatRequest("http://127.0.0.1:1"))).kind)
        kinds.push((yield* failureOf(chatRequest("not a url"))).kind)
        deepStrictEqual(kinds, ["network", "network", "timeout", "timeout", "network", "bad_request"])
      })
    )

    it.scoped("comes in time while a body drips", () =>
      Effect.gen(function* () {
        const cutOff = yield* Deferred.make<void>()
        const url = yield* faultyProvider((request, response) => {
          response.writeHead(200, { "content-type": "application/json" })
          const drip = setInterval(() => response.write(" "), 20)
          request.socket.once("close", () => {
            clearInterval(drip)
            Deferred.unsafeDone(cutOff, Effect.void)
          })
        })
        const failure = yield* failureOf(chatRequest(url, { timeout: Duration.millis(400) }))
        assert.strictEqual(failure.kind, "timeout")
        yield* Deferred.await(cutOff)
      })
    )

    it.scoped("reads no more than a MiB of what a provider sends for ever", () =>
      Effect.gen(function* () {
        const sent = { bytes: 0 }
        const url = yield* faultyProvider((request, response) => {
          response.writeHead(request.url?.startsWith("/ok") === true ? 200 : 500)
          const block = Buffer.alloc(64 * 1024, "x")
          const more = () => {
            while (!response.destroyed && response.write(block)) sent.bytes += block.length
          }
          response.on("drain", more)
          more()
        })
        const ok = yield* failureOf(chatRequest(`${url}/ok`))
        deepStrictEqual([ok.kind, ok.message], ["invalid_response", "the provider's answer is longer than 1 MiB"])
        const bad = yield* failureOf(chatRequest(url))
        deepStrictEqual([bad.kind, bad.message], ["provider_error", "x".repeat(300)])
        assert.isBelow(sent.bytes, 16 * 1024 * 1024)
      })
    )

    it.scoped("is a redirect: the key goes nowhere else", () =>
      Effect.gen(function* () {
        let visits = 0
        const url = yield* faultyProvider((_, response) => {
          visits += 1
          response.writeHead(307, { location: "/elsewhere" }).end()
        })
        assert.strictEqual((yield* failureOf(chatRequest(url))).kind, "invalid_response")
        assert.strictEqual(visits, 1)
      })
    )
  })
})
