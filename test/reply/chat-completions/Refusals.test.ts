import type { ServerResponse } from "node:http"
import { assert, describe, it, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Option } from "effect"
import { ChatModel } from "../../../src/reply/ChatModel.ts"
import { readFailure } from "../../../src/reply/chat-completions/Completion.ts"
import { providerErrorIn } from "../../../src/reply/chat-completions/ProviderError.ts"
import { learn, noQuirks } from "../../../src/reply/chat-completions/Quirks.ts"
import { chatRequest, driver, faultyProvider } from "../../support/ChatProvider.ts"

type Field = "max_tokens" | "temperature"
interface Refusal {
  readonly from: string
  readonly body: unknown
  readonly status?: number
  readonly words: RegExp
}

const invalid = (message: string, more: object = {}) => ({
  error: { message, type: "invalid_request_error", ...more }
})
const extra = (field: string) => ({
  type: "extra_forbidden",
  loc: ["body", field],
  msg: "Extra inputs are not permitted",
  input: 1
})
const useOther =
  "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
const onlyDefault =
  "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is supported."
const google = (name: string) => ({
  error: {
    code: 400,
    message: `Invalid JSON payload received. Unknown name "${name}": Cannot find field.`,
    status: "INVALID_ARGUMENT",
    details: [{ "@type": "type.googleapis.com/google.rpc.BadRequest" }]
  }
})

/** Bodies as providers send them, by what they refuse. */
const refusals: { readonly [field in Field]: ReadonlyArray<Refusal> } = {
  max_tokens: [
    {
      from: "OpenAI, Azure OpenAI",
      body: invalid(useOther, { param: "max_tokens", code: "unsupported_parameter" }),
      words: /^Unsupported parameter: 'max_tokens'/
    },
    {
      from: "GitHub Copilot",
      body: { error: { message: useOther, code: "invalid_request_body" } },
      words: /^Unsupported parameter/
    },
    {
      from: "Azure OpenAI, older",
      body: invalid("Unrecognized request argument supplied: max_tokens", { param: null, code: null }),
      words: /^Unrecognized request argument/
    },
    {
      from: "Mistral",
      status: 422,
      body: {
        object: "error",
        message: { detail: [extra("max_tokens")] },
        type: "invalid_request_error",
        param: null,
        code: null
      },
      words: /^body\.max_tokens: Extra inputs are not permitted$/
    },
    {
      from: "Mistral, behind its proxy",
      status: 422,
      body: {
        object: "error",
        message: JSON.stringify({ detail: [extra("max_tokens")] }),
        type: "internal_error_proxy",
        code: "1000"
      },
      words: /^body\.max_tokens: Extra inputs/
    },
    {
      from: "Mistral, newer",
      status: 422,
      body: {
        object: "Error",
        detail: [extra("max_tokens")],
        message: [extra("max_tokens")],
        type: "invalid_request_error",
        code: 3001
      },
      words: /^body\.max_tokens: Extra inputs/
    },
    { from: "FastAPI", status: 422, body: { detail: [extra("max_tokens")] }, words: /^body\.max_tokens: Extra inputs/ },
    {
      from: "vLLM",
      body: {
        object: "error",
        message:
          "[{'type': 'extra_forbidden', 'loc': ('body', 'max_tokens'), 'msg': 'Extra inputs are not permitted'}]",
        type: "BadRequestError",
        param: null,
        code: 400
      },
      words: /extra_forbidden/
    },
    {
      from: "Groq",
      body: invalid("property 'max_tokens' is unsupported, did you mean 'max_completion_tokens'?"),
      words: /^property/
    },
    { from: "Gemini", body: [google("max_tokens")], words: /Unknown name "max_tokens"/ },
    {
      from: "OpenRouter",
      body: {
        error: {
          message: "Provider returned error",
          code: 400,
          metadata: { raw: JSON.stringify(invalid(useOther)), provider_name: "Azure" }
        },
        user_id: "u"
      },
      words: /^Provider returned error: Unsupported parameter: 'max_tokens'/
    }
  ],
  temperature: [
    {
      from: "OpenAI, Azure OpenAI",
      body: invalid(onlyDefault, { param: "temperature", code: "unsupported_value" }),
      words: /^Unsupported value/
    },
    {
      from: "OpenAI, other models",
      body: invalid("Unsupported parameter: 'temperature' is not supported with this model.", {
        param: "temperature",
        code: null
      }),
      words: /^Unsupported parameter/
    },
    {
      from: "Anthropic",
      body: {
        type: "error",
        error: { type: "invalid_request_error", message: "`temperature` is deprecated for this model." },
        request_id: "req_1"
      },
      words: /is deprecated for this model/
    },
    {
      from: "Anthropic, thinking",
      body: {
        error: {
          code: "invalid_request_error",
          message: "`temperature` may only be set to 1 when thinking is enabled.",
          type: "invalid_request_error",
          param: null
        }
      },
      words: /may only be set to 1/
    },
    { from: "Moonshot", body: invalid("invalid temperature: only 1 is allowed for this model"), words: /only 1/ },
    {
      from: "LiteLLM",
      body: {
        error: {
          message:
            "litellm.UnsupportedParamsError: gpt-5 models (including gpt-5-codex) don't support temperature=0.7. Only temperature=1 is supported.",
          type: "None",
          param: null,
          code: "400"
        }
      },
      words: /don't support temperature/
    },
    { from: "Gemini", body: [google("temperature")], words: /Unknown name "temperature"/ },
    {
      from: "OpenRouter",
      body: {
        error: {
          message: "Provider returned error",
          code: 400,
          metadata: { raw: JSON.stringify(invalid(onlyDefault), null, 1), provider_name: "OpenAI" }
        }
      },
      words: /^Provider returned error: Unsupported value/
    },
    {
      from: "a gateway that keeps the cause",
      body: { error: { cause: JSON.stringify(invalid(onlyDefault)), code: 400, message: "the call failed" } },
      words: /^the call failed: Unsupported value/
    }
  ]
}

/** What is wrong with these is something else, and leaving a parameter out would hide it. */
const others: ReadonlyArray<Refusal> = [
  {
    from: "DeepSeek",
    body: invalid("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", {
      param: null,
      code: "invalid_request_error"
    }),
    words: /valid range/
  },
  {
    from: "Groq, limit",
    body: invalid("`max_tokens` must be less than or equal to `8192`", { param: "max_tokens" }),
    words: /must be less/
  },
  {
    from: "OpenAI, limit",
    body: invalid("max_tokens is too large: 32768. This model supports at most 16384 completion tokens.", {
      param: "max_tokens",
      code: "invalid_value"
    }),
    words: /too large/
  },
  {
    from: "vLLM, limit",
    body: { object: "error", message: "max_tokens must be at least 1, got -186.", type: "BadRequestError", code: 400 },
    words: /at least 1/
  },
  { from: "Groq, type", body: invalid("'temperature' : value must be a number"), words: /must be a number/ },
  { from: "Anthropic, range", body: invalid("temperature: range: 0..1"), words: /range/ },
  {
    from: "Ollama",
    body: {
      error: { message: 'model "m" not found, try pulling it first', type: "api_error", param: null, code: null }
    },
    words: /not found/
  },
  { from: "Gemini, a value", body: [google("reasoning")], words: /reasoning/ },
  { from: "nothing that is known", body: { error: { metadata: { raw: 7 } } }, words: /metadata/ }
]

const request = (url = "") => chatRequest(url, { temperature: Option.some(0.7), maxTokens: Option.some(64) })
/** A provider that answers once it has read what it is asked. */
const parsing = (answer: (sent: Readonly<Record<string, unknown>>, response: ServerResponse) => void) =>
  faultyProvider((incoming, response) => {
    let text = ""
    incoming.on("data", (chunk) => (text += String(chunk)))
    incoming.on("end", () => answer(JSON.parse(text), response))
  })
const errorIn = (body: unknown) => Option.getOrThrow(providerErrorIn(body))

describe("the refusal of", () => {
  for (const field of ["max_tokens", "temperature"] as const) {
    for (const { body, from, status = 400, words } of refusals[field]) {
      it(`${field} by ${from} is understood`, () => {
        const learnt = learn(request(), noQuirks, errorIn(body))
        deepStrictEqual(
          learnt,
          Option.some({ completionTokens: field === "max_tokens", withoutTemperature: field === "temperature" })
        )
        assert.match(readFailure(status, JSON.stringify(body)).message, words)
      })
    }
  }
  for (const { body, from, status = 400, words } of others) {
    it(`something else by ${from} teaches nothing`, () => {
      const learnt = Option.flatMap(providerErrorIn(body), (error) => learn(request(), noQuirks, error))
      deepStrictEqual(learnt, Option.none())
      assert.match(readFailure(status, JSON.stringify(body)).message, words)
    })
  }
})

layer(driver, { excludeTestServices: true })("a model that refuses", (it) => {
  for (const field of ["max_tokens", "temperature"] as const) {
    it.scoped(`${field} in whatever words is asked in the form that it takes, and once from then on`, () =>
      Effect.forEach(refusals[field], ({ body, from, status = 400 }) =>
        Effect.gen(function* () {
          const { complete } = yield* ChatModel
          const asked: Array<ReadonlyArray<string>> = []
          const url = yield* parsing((sent, response) => {
            const names = Object.keys(sent)
            asked.push(names)
            response.statusCode = names.includes(field) ? status : 200
            response.end(names.includes(field) ? JSON.stringify(body) : '{"choices":[{"message":{"content":"Yes."}}]}')
          })
          assert.strictEqual((yield* complete(request(url))).reply, "Yes.", from)
          assert.strictEqual((yield* complete(request(url))).reply, "Yes.", from)
          const form = [
            "model",
            "messages",
            ...(field === "temperature" ? ["max_tokens"] : ["temperature", "max_completion_tokens"])
          ]
          deepStrictEqual(asked, [["model", "messages", "temperature", "max_tokens"], form, form], from)
        })
      )
    )
  }

  /** Takes what `refused` does not name at that moment. */
  const moody = (refused: () => ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const url = yield* parsing((sent, response) => {
        const limit = Object.keys(sent).find((name) => name.startsWith("max_")) ?? ""
        asked.push(limit)
        const isRefused = refused().includes(limit)
        response.statusCode = isRefused ? 400 : 200
        response.end(
          isRefused
            ? JSON.stringify({ error: { message: `Unrecognized request argument supplied: ${limit}` } })
            : '{"choices":[{"message":{"content":"Yes."}}]}'
        )
      })
      return { asked, url }
    })

  it.scoped("max_completion_tokens, since it was replaced, is asked with max_tokens again", () =>
    Effect.gen(function* () {
      const { complete } = yield* ChatModel
      let refused = ["max_tokens"]
      const { asked, url } = yield* moody(() => refused)
      yield* complete(request(url))
      refused = ["max_completion_tokens"]
      yield* complete(request(url))
      yield* complete(request(url))
      deepStrictEqual(asked, [
        "max_tokens",
        "max_completion_tokens",
        "max_completion_tokens",
        "max_tokens",
        "max_tokens"
      ])
    })
  )

  it.scoped("both is asked once with each, and fails", () =>
    Effect.gen(function* () {
      const { complete } = yield* ChatModel
      const { asked, url } = yield* moody(() => ["max_tokens", "max_completion_tokens"])
      assert.strictEqual((yield* Effect.flip(complete(request(url)))).kind, "bad_request")
      deepStrictEqual(asked, ["max_tokens", "max_completion_tokens"])
    })
  )
})
