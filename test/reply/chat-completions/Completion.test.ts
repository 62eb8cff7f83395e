import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Either, FastCheck, Option } from "effect"
import { endpointOf, readCompletion, readFailure } from "../../../src/reply/chat-completions/Completion.ts"
import { processorTime } from "../../support/ProcessorTime.ts"

const answer = (message: unknown, more: object = {}) =>
  JSON.stringify({ model: "m-1", choices: [{ message, ...more }], usage: { prompt_tokens: 3, completion_tokens: 2 } })

const reply = (body: string) => Either.getOrThrow(readCompletion(body, "asked"))
const reason = (body: string) => Either.getOrThrow(Either.flip(readCompletion(body, "asked")))

/** JSON that looks like an answer, with anything in every place. */
const almost = FastCheck.jsonValue().chain((any) =>
  FastCheck.constantFrom(
    any,
    [any],
    { error: any },
    { choices: any },
    { choices: [any] },
    { choices: [{ message: any, finish_reason: any }] },
    { choices: [{ message: { content: any, refusal: any } }], usage: any, model: any },
    { choices: [{ message: { content: [any, { type: any, text: any }] } }] },
    { choices: [{ error: any }] },
    { error: { message: any, type: any, param: any, code: any } },
    { choices: [{ message: { content: null }, finish_reason: { toString: any } }] }
  )
)

describe("any body", () => {
  it.prop("of any text is a reply or a reason", [FastCheck.string({ unit: "binary" })], ([body]) => {
    const read = readCompletion(body, "asked")
    assert.isTrue(Either.isLeft(read) || read.right.reply !== "")
    assert.notStrictEqual(readFailure(500, body).message, "")
  })

  it.prop("of any bytes is no reply", [FastCheck.uint8Array()], ([bytes]) => {
    assert.isTrue(Either.isLeft(readCompletion(Buffer.from(bytes).toString("utf8"), "asked")))
  })

  it.prop("of any JSON is a reply or a reason", [almost], ([json]) => {
    const read = readCompletion(JSON.stringify(json), "asked")
    assert.isTrue(Either.isLeft(read) ? read.left.message !== "" : read.right.reply.trim() !== "")
    for (const status of [304, 400, 429, 500])
      assert.notStrictEqual(readFailure(status, JSON.stringify(json)).message, "")
  })

  it("as long as they get takes no time", () => {
    for (const text of ["<think></think>", "<think>", "</think>", "\n ", "<", "a"]) {
      const body = answer({ content: text.repeat(1_000_000 / text.length) })
      const taken = processorTime(() => void readCompletion(body, "asked"))
      assert.isBelow(taken, 2_000, text)
    }
  })
})

describe("a reply", () => {
  it.prop("in plain text is that text", [FastCheck.lorem()], ([text]) => {
    deepStrictEqual(reply(answer({ content: `\n${text} ` })), {
      reply: text,
      isCutOff: false,
      model: "m-1",
      promptTokens: Option.some(3),
      completionTokens: Option.some(2)
    })
  })

  it("in parts is the text parts", () => {
    const content = [{ type: "thinking", thinking: "hm" }, { type: "text", text: "Yes, " }, { text: "we do." }, 7]
    assert.strictEqual(reply(answer({ content })).reply, "Yes, we do.")
  })

  it("never shows reasoning", () => {
    for (const content of [
      "<think>hm</think>Yes.",
      "\n<THINK>a\nb</THINK>\n\nYes.",
      "<think>a</think> <think>b</think>Yes.",
      "the template ate the tag</think>\nYes."
    ]) {
      assert.strictEqual(reply(answer({ content })).reply, "Yes.")
    }
    assert.strictEqual(reply(answer({ content: "Write <think>x</think> so." })).reply, "Write <think>x</think> so.")
    assert.strictEqual(reason(answer({ content: "<think>never closed" })).kind, "empty_completion")
    assert.strictEqual(reason(answer({ content: null, reasoning_content: "secret" })).kind, "empty_completion")
  })

  it("holds what storage takes", () => {
    assert.strictEqual(reply(answer({ content: "a\0b\ud800c😀" })).reply, "ab\ufffdc😀")
  })

  it("needs neither model nor counts", () => {
    const body = JSON.stringify({
      choices: [{ message: { content: "Yes." } }],
      usage: { prompt_tokens: "many" },
      model: 1
    })
    deepStrictEqual(reply(body), {
      reply: "Yes.",
      isCutOff: false,
      model: "asked",
      promptTokens: Option.none(),
      completionTokens: Option.none()
    })
  })

  it("may be cut at its limit", () => {
    const { isCutOff, reply: text } = reply(answer({ content: "Yes, and" }, { finish_reason: "length" }))
    deepStrictEqual([isCutOff, text], [true, "Yes, and"])
  })
})

describe("no reply", () => {
  const bodies = [
    ["blank content", answer({ content: " \n" }, { finish_reason: "stop" }), "empty_completion", /nothing/],
    ["the limit", answer({ content: null }, { finish_reason: "length" }), "empty_completion", /max_tokens/],
    [
      "a tool call",
      answer({ content: null, tool_calls: [{}] }, { finish_reason: "tool_calls" }),
      "empty_completion",
      /tool/
    ],
    ["a content filter", answer({ content: "" }, { finish_reason: "content_filter" }), "refusal", /filter/],
    ["a refusal", answer({ content: null, refusal: "I cannot." }), "refusal", /I cannot\./],
    ["an error", '{"error":{"message":"Upstream died","code":502}}', "provider_error", /Upstream died/],
    ["an error beside choices", '{"error":{"message":"Slow","code":"429"},"choices":[]}', "rate_limited", /Slow/],
    ["an error in the choice", answer({}, { error: { code: 402, message: "No credits" } }), "quota", /No credits/],
    ["no choices", '{"choices":[]}', "invalid_response", /choices/],
    ["a word", '"hello"', "invalid_response", /choices/],
    ["nothing", "", "invalid_response", /JSON/],
    ["a page", "<html>ok</html>", "invalid_response", /JSON/]
  ] as const
  for (const [name, body, kind, words] of bodies) {
    it(`but ${name} is ${kind}`, () => {
      assert.strictEqual(reason(body).kind, kind)
      assert.match(reason(body).message, words)
    })
  }
})

describe("a conversation that is too long", () => {
  const tellings = [
    ["OpenAI", 400, '{"error":{"message":"Too many","type":"invalid_request_error","code":"context_length_exceeded"}}'],
    ["vLLM", 400, '{"object":"error","message":"This model\'s maximum context length is 4096 tokens.","code":400}'],
    ["llama.cpp", 400, '{"error":{"code":400,"message":"the request exceeds the available context size","type":"x"}}'],
    [
      "Gemini",
      400,
      '[{"error":{"message":"The input token count (9) exceeds the maximum number of tokens allowed (8)."}}]'
    ],
    [
      "Anthropic",
      413,
      '{"error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}'
    ]
  ] as const
  for (const [name, status, body] of tellings) {
    it(`is understood as ${name} tells it`, () =>
      assert.strictEqual(readFailure(status, body).kind, "context_too_long"))
  }

  it("is no other trouble that speaks of tokens", () => {
    for (const [status, words] of [
      [429, "Reduce the length of your prompts"],
      [400, "max_tokens must be positive"]
    ] as const)
      assert.notStrictEqual(readFailure(status, JSON.stringify({ error: { message: words } })).kind, "context_too_long")
  })
})

describe("a failure", () => {
  const shapes = [
    [
      "OpenAI",
      401,
      '{"error":{"message":"Bad key","type":"x","param":null,"code":"invalid_api_key"}}',
      "auth",
      "Bad key"
    ],
    ["a spent quota", 429, '{"error":{"message":"Out","type":"insufficient_quota","code":null}}', "quota", "Out"],
    ["LiteLLM", 429, '{"error":{"message":"RateLimit","code":"429"}}', "rate_limited", "RateLimit"],
    ["OpenRouter", 402, '{"error":{"code":402,"message":"No credits","metadata":{}}}', "quota", "No credits"],
    ["old vLLM", 400, '{"object":"error","message":"Too long","code":400}', "bad_request", "Too long"],
    [
      "Gemini",
      400,
      '[{"error":{"code":400,"message":"Unknown name","status":"INVALID"}}]',
      "bad_request",
      "Unknown name"
    ],
    ["a text", 400, '{"error":"Model does not exist"}', "bad_request", "Model does not exist"],
    ["a detail", 500, '{"detail":"Internal"}', "provider_error", "Internal"],
    ["a page", 502, "<html>Bad gateway</html>", "provider_error", "<html>Bad gateway</html>"],
    ["silence", 503, " ", "provider_error", "the provider answered 503 without a word"],
    ["a redirect", 302, "", "invalid_response", "the provider answered 302 without a word"],
    ["a time-out", 408, "", "timeout", "the provider answered 408 without a word"]
  ] as const
  for (const [name, status, body, kind, message] of shapes) {
    it(`as ${name} tells it is ${kind}`, () => deepStrictEqual(readFailure(status, body), { kind, message }))
  }

  it("by an unknown path hints at the base URL", () => {
    assert.match(readFailure(404, '{"error":"Not found"}').message, /^Not found \(.*\/v1\?\)$/)
  })
})

it("the endpoint is the base and /chat/completions, joined as text", () => {
  for (const base of ["http://h:1/v1", " http://h:1/v1/ ", "http://h:1/v1//", "http://h:1/v1/chat/completions"]) {
    assert.strictEqual(endpointOf(base), "http://h:1/v1/chat/completions")
  }
  assert.strictEqual(endpointOf("https://h/v1beta/openai"), "https://h/v1beta/openai/chat/completions")
  assert.strictEqual(endpointOf("https://h/x/?a=1?2"), "https://h/x/chat/completions?a=1?2")
})
