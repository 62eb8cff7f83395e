import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Option } from "effect"
import { start } from "../../../src/simulator/chat-completions/ChatCompletionsSimulator.ts"
import { call } from "../../support/Api.ts"
import { chatProvider, providerKey } from "../../support/ChatProvider.ts"

const question = { model: "any", messages: [{ role: "user", content: "Do you deliver?" }] }

const ask = (url: string, body: unknown = question, path = "/v1/chat/completions") =>
  call("POST", `${url}${path}`, { token: providerKey, body })

describe("the simulated provider", () => {
  it.scoped("quotes the last user turn and counts tokens, with and without /v1", () =>
    Effect.gen(function* () {
      const { url } = yield* chatProvider
      const messages = [
        ...question.messages,
        { role: "assistant", content: "Yes." },
        { role: "user", content: "When?" }
      ]
      for (const path of ["/v1/chat/completions", "/chat/completions"]) {
        const { body, status } = yield* ask(url, { ...question, messages }, path)
        assert.strictEqual(status, 200)
        assert.include(body.choices[0].message.content, "“When?”")
        assert.strictEqual(body.usage.total_tokens, body.usage.prompt_tokens + body.usage.completion_tokens)
      }
    })
  )

  it.scoped("demands its key only when it has one", () =>
    Effect.gen(function* () {
      const { url } = yield* chatProvider
      const refused = yield* call("POST", `${url}/chat/completions`, { body: question })
      deepStrictEqual([refused.status, refused.body.error.code], [401, "invalid_api_key"])
      const open = yield* start({ port: 0, apiKey: Option.none() })
      assert.strictEqual((yield* call("POST", `${open.url}/chat/completions`, { body: question })).status, 200)
    })
  )

  it.scoped("refuses what the strictest provider refuses", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* chatProvider
      for (const wrong of [
        { ...question, n: 1 },
        { ...question, messages: [] },
        { ...question, temperature: null },
        "x"
      ]) {
        const { body, status } = yield* ask(url, wrong)
        deepStrictEqual([status, typeof body.error.message], [400, "string"])
      }
      deepStrictEqual(yield* requests, [])
    })
  )

  it.scoped("plays its script in order and then answers by itself", () =>
    Effect.gen(function* () {
      const { requests, reset, script, url } = yield* chatProvider
      yield* script({ content: "One.", times: 2 })
      yield* script({ status: 429, headers: { "retry-after": "2" }, body: { error: { message: "Slow down." } } })
      yield* script({ status: 502, raw: "<html>" })
      const answers = []
      for (let n = 0; n < 5; n++) answers.push(yield* ask(url))
      deepStrictEqual(
        answers.map(({ status }) => status),
        [200, 200, 429, 502, 200]
      )
      assert.strictEqual(answers[1]?.body.choices[0].message.content, "One.")
      assert.strictEqual(answers[2]?.headers.get("retry-after"), "2")
      assert.strictEqual(answers[3]?.body, "<html>")
      assert.lengthOf(yield* requests, 5)
      yield* script({ content: "Never." })
      yield* reset
      assert.include((yield* ask(url)).body.choices[0].message.content, "Do you deliver?")
      assert.lengthOf(yield* requests, 1)
    })
  )

  it.scoped("says what is wrong with a script", () =>
    Effect.gen(function* () {
      const { script } = yield* chatProvider
      const { body, status } = yield* script({ status: 99 })
      assert.strictEqual(status, 422)
      assert.include(body.message, "status")
    })
  )

  it.scoped("drops a connection and breaks off an answer", () =>
    Effect.gen(function* () {
      const { script, url } = yield* chatProvider
      for (const kind of ["drop", "break_off"]) {
        yield* script({ kind })
        const outcome = yield* Effect.exit(ask(url))
        assert.strictEqual(outcome._tag, "Failure")
      }
      assert.strictEqual((yield* ask(url)).status, 200)
    })
  )
})
