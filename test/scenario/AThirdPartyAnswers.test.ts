import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { Client } from "pg"
import { nextId } from "../../src/kit/Id.ts"
import { SkipReason } from "../../src/reply/domain/Eligibility.ts"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { chatOf, eventually, makeChannel, makeWorld, type World, write } from "../support/Story.ts"
import * as ThirdPartyProvider from "../support/ThirdPartyProvider.ts"

/** What a customer writes, what becomes of it, and how often the provider is asked. */
const stories = [
  { person: "anna", text: "Open on Sunday?", status: "sent", reason: null, asked: 1 },
  { person: "bert", text: "Slow down first", status: "sent", reason: null, asked: 2 },
  { person: "cleo", text: "A wrong key", status: "failed", reason: /^auth: Incorrect/, asked: 1 },
  { person: "dora", text: "Say nothing", status: "failed", reason: /^empty_completion: /, asked: 1 },
  { person: "emil", text: "Call a tool", status: "failed", reason: /^empty_completion: /, asked: 1 },
  { person: "finn", text: "Only think", status: "failed", reason: /^empty_completion: /, asked: 1 },
  { person: "gina", text: "Tell at length", status: "sent", reason: null, asked: 1 },
  { person: "hans", text: "Nobody foresaw this", status: "failed", reason: /^bad_request: .*\/v1\?/, asked: 1 },
  { person: "jana", text: "Out of quota", status: "failed", reason: /^quota: /, asked: 1 },
  { person: "kurt", text: "Broken for good", status: "failed", reason: /^provider_error: It is down/, asked: 3 }
] as const

const sentence = "This sentence is one of many that make a long answer. "
const longAnswer = sentence.repeat(40).trim()

const error = (status: number, message: string, code: string) => ({
  error: { message, type: "invalid_request_error", param: null, code },
  status
})

const settledLogs = (url: string, token: string, accountId: string, count: number) =>
  eventually(
    Effect.map(call("GET", `${url}/v1/ai/logs?account_id=${accountId}&limit=100`, { token }), ({ body }) =>
      body.data.filter(({ status }: { status: string }) => !["pending", "generated"].includes(status)).length === count
        ? body.data
        : undefined
    ),
    `${count} replies that have ended`
  )

const query = (databaseUrl: string, statement: string, values: ReadonlyArray<unknown> = []) =>
  Effect.promise(async () => {
    const client = new Client({ connectionString: databaseUrl })
    await client.connect()
    await client.query(statement, [...values])
    await client.end()
  })

/** What a crash leaves of a request that was carried out and not answered, once its lease is over. */
const forgetAnswers = (databaseUrl: string) =>
  query(databaseUrl, "UPDATE idempotency_keys SET answer_sealed = NULL, leased_until = now() - interval '1 second'")

/** So many more replies in the chats that were answered already, as if just now: a reply types for a second at least. */
const answerOften = (databaseUrl: string, times: number) =>
  Effect.flatMap(Effect.replicateEffect(nextId, times), (ids) =>
    query(
      databaseUrl,
      `INSERT INTO ai_logs (id, account_id, chat_id, message_id, status, created_at)
       SELECT fresh, account_id, chat_id, gen_random_uuid(), 'sent', now()
       FROM (SELECT DISTINCT account_id, chat_id FROM ai_logs WHERE status = 'sent') answered, unnest($1::uuid[]) fresh`,
      [ids]
    )
  )

/** A program whose provider is the third party's. */
const begun = Effect.fn(function* (world: World, env: Readonly<Record<string, string>>) {
  const mock = yield* ThirdPartyProvider.start
  const program = yield* Gatehouse.serve({ ...world.env, ...env })
  const channel = yield* makeChannel(world, program.url, "shop", { ordered: true })
  const put = (path: string, body: object) => call("PUT", `${program.url}/v1${path}`, { token: channel.token, body })
  yield* put("/ai/global", { base_url: `${mock.url}/v1/`, model_name: "m-3", default_system_prompt: "Be brief." })
  return { mock, program, channel, put, url: program.url }
})

describe("a provider that others wrote", () => {
  it.live(
    "is asked in its own form, and each of its answers leads to a reply or a reason",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        const { channel, mock, program, put, url } = yield* begun(world, {})
        mock
          .onMessage(/Sunday/, { content: "From 10 to 16." })
          .on({ userMessage: /Slow/, sequenceIndex: 0 }, error(429, "Too many.", "rate_limit_exceeded"))
          .on({ userMessage: /Slow/, sequenceIndex: 1 }, { content: "Here I am." })
          .onMessage(/wrong key/, error(401, "Incorrect API key provided: sk-secret-of-the-shop", "invalid_api_key"))
          .onMessage(/nothing/, { content: " " })
          .onMessage(/tool/, { toolCalls: [{ name: "order", arguments: "{}" }] })
          .onMessage(/think/, { content: "<think>never to be seen" })
          .onMessage(/length/, { content: longAnswer })
          .onMessage(/quota/, error(429, "Out of money.", "insufficient_quota"))
          .onMessage(/Broken/, error(500, "It is down.", "server_error"))
        yield* Effect.forEach(stories, ({ person, text }) => write(world, person, "shop", text))
        const logs: ReadonlyArray<any> = yield* settledLogs(url, channel.token, channel.id, stories.length)
        const failed = stories.filter(({ status }) => status === "failed").length
        yield* eventually(
          Effect.sync(() => {
            const count = (name: string) => world.receiver.ledger.filter(({ event }) => event === name).length
            return count("message.received") === stories.length && count("ai.reply.failed") === failed
              ? true
              : undefined
          }),
          "what was heard and what failed"
        )
        const events = world.receiver.ledger.map(({ data }) => data)
        for (const { asked, person, reason, status, text } of stories) {
          const received = events.find(({ data, event }) => event === "message.received" && data["body"] === text)
          const log = logs.find(({ message_id }) => message_id === received?.data["message_id"])
          assert.strictEqual(log.status, status, text)
          if (reason === null) assert.isNull(log.reason, text)
          else assert.match(log.reason, reason, text)
          const talk = yield* chatOf(world, person)
          const said = talk.filter(({ from }) => from === "shop").map((item) => item.text)
          assert.strictEqual(said.length > 0, status === "sent", text)
          assert.isTrue(said.every((part) => part.length <= 1000))
          const requests = mock.getRequests().filter(({ body }) => JSON.stringify(body).includes(text))
          assert.strictEqual(requests.length, asked, text)
        }
        const long = (yield* chatOf(world, "gina")).slice(1).map(({ text }) => text)
        assert.isAbove(long.length, 2)
        assert.strictEqual(long.join(" "), longAnswer)

        const first = mock.getRequests().find(({ body }) => JSON.stringify(body).includes("Sunday"))
        assert.strictEqual(first?.path, "/v1/chat/completions")
        const messages = [
          { role: "system", content: "Be brief." },
          { role: "user", content: "Open on Sunday?" }
        ]
        deepStrictEqual<unknown>(JSON.parse(JSON.stringify(first?.body)).messages, messages)

        yield* eventually(
          Effect.sync(() => {
            const order = world.receiver.ledger
              .filter(({ data: { data } }) => data["reply"] === "From 10 to 16." || data["body"] === "From 10 to 16.")
              .map(({ event }) => event)
            return order.length === 3 ? order : undefined
          }),
          "three events"
        ).pipe(Effect.map((order) => deepStrictEqual(order, ["ai.reply.generated", "message.sent", "ai.reply.sent"])))
        const failures = world.receiver.ledger.filter(({ event }) => event === "ai.reply.failed")
        assert.lengthOf(failures, failed)
        for (const { data } of failures) assert.match(String(data.data["reason"]), /^[a-z_]+$/)
        assert.notInclude(JSON.stringify(logs) + program.output(), "sk-secret-of-the-shop")

        const metrics = yield* call("GET", `${url}/metrics`)
        assert.match(metrics.body, /gatehouse_ai_replies_total\{outcome="sent"\} 3/)
        assert.match(metrics.body, /gatehouse_ai_provider_seconds_count\{result="ok"\}/)
        assert.match(metrics.body, /gatehouse_ai_replies_waiting \d/)
        yield* put("/ai/global", { enabled: false })
      }).pipe(Effect.scoped),
    240_000
  )

  it.live(
    "is not asked where the rules say no, and a burst, a person and a manager are heard",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        const { channel, mock, put, url } = yield* begun(world, {})
        mock.onMessage(/refund/, { content: "A person will answer. [[HANDOFF]]" }).onMessage(/.*/, { content: "Yes." })
        const { id, token } = channel
        const control = (path: string, body: object) => call("POST", `${world.platformB.url}/_control${path}`, { body })
        let ended = 0
        const reasonFor = Effect.fn(function* (message: object, count = 1) {
          yield* control("/messages", { to: "shop", text: "Hello?", ...message })
          ended += count
          const [last] = yield* settledLogs(url, token, id, ended)
          return last.reason
        })
        const chat = Effect.fn(function* (person: string) {
          const { body } = yield* call("GET", `${url}/v1/accounts/${id}/chats`, { token })
          const found = body.data.find(({ name }: { name: string }) => name.toLowerCase().includes(person))
          return `/accounts/${id}/chats/${encodeURIComponent(found.chat_id)}`
        })

        assert.isNull(yield* reasonFor({ from: "anna" }))
        const anna = yield* chat("anna")
        yield* put("/ai/global", { enabled: false })
        assert.strictEqual(yield* reasonFor({ from: "anna" }), "global disabled")
        yield* put("/ai/global", { enabled: true })
        yield* put(`/accounts/${id}/ai`, { enabled: false })
        assert.strictEqual(yield* reasonFor({ from: "anna" }), "account disabled")
        yield* call("DELETE", `${url}/v1/accounts/${id}/ai`, { token })
        yield* put(`${anna}/ai`, { mode: "disabled", custom_system_prompt: "Rhyme." })
        assert.strictEqual(yield* reasonFor({ from: "anna" }), "chat disabled")
        const shown = yield* call("GET", `${url}/v1${anna}/ai`, { token })
        deepStrictEqual(shown.body.data, { mode: "disabled", custom_system_prompt: "Rhyme." })
        const effective = yield* call("GET", `${url}/v1${anna}/ai/effective`, { token })
        deepStrictEqual(effective.body.data.enabled, { global: true, account: true, chat: false, effective: false })
        deepStrictEqual(effective.body.data.system_prompt, { value: "Rhyme.", layer: "chat" })
        deepStrictEqual(effective.body.data.model_name, { value: "m-3", layer: "global" })
        deepStrictEqual(effective.body.data.has_api_key, { value: true, layer: "global" })
        yield* put(`${anna}/ai`, { mode: "enabled", custom_system_prompt: null })
        yield* call("PATCH", `${url}/v1${anna}`, { token, body: { is_blocked: true } })
        assert.strictEqual(yield* reasonFor({ from: "anna" }), "chat blocked")
        yield* call("PATCH", `${url}/v1${anna}`, { token, body: { is_blocked: false } })
        assert.strictEqual(yield* reasonFor({ from: "anna", type: "like", text: undefined }), "not a text message")
        yield* put("/ai/global", { api_key: null })
        assert.strictEqual(yield* reasonFor({ from: "anna" }), "no API key configured")
        yield* put("/ai/global", { api_key: "sk-secret-of-the-shop" })
        const club = yield* control("/groups", { title: "Club", members: ["shop", "anna"] })
        const inClub = { from: "anna", to: undefined, thread_id: club.body.thread_id }
        assert.strictEqual(yield* reasonFor(inClub), "chat type disabled")
        const elevenMinutesAgo = String((Date.now() - 660_000) * 1_000)
        assert.strictEqual(yield* reasonFor({ from: "olga", timestamp: elevenMinutesAgo }), "message too old")
        yield* answerOften(world.databaseUrl, 20)
        ended += 20
        assert.strictEqual(yield* reasonFor({ from: "anna" }), "loop protection")
        assert.lengthOf(mock.getRequests(), 1)

        yield* put(`/accounts/${id}/ai`, {
          debounce_seconds: 4,
          human_takeover_minutes: 10,
          manager_alerts: { enabled: true, to: "pbuser:owner", keywords: ["Refund"] }
        })
        yield* control("/people", { username: "owner" })
        yield* write(world, "bert", "shop", "I am angry")
        yield* write(world, "bert", "shop", "I want a refund")
        ended += 2
        const burst = yield* settledLogs(url, token, id, ended)
        deepStrictEqual(
          burst.slice(0, 2).map(({ reason, status }: any) => [status, reason]),
          [
            ["sent", null],
            ["skipped", "superseded"]
          ]
        )
        deepStrictEqual(
          (yield* chatOf(world, "bert")).map(({ text }) => text),
          ["I am angry", "I want a refund", "A person will answer."]
        )
        const alerts = yield* eventually(
          Effect.map(chatOf(world, "owner"), (items) => (items.length === 2 ? items : undefined)),
          "two alerts"
        )
        assert.match(String(alerts[0]?.text), /“Refund” in the chat with bert:\nI am angry\nI want a refund/i)
        assert.match(String(alerts[1]?.text), /A person is asked for/)
        yield* control("/messages", { from: "shop", to: "bert", text: "I take over" })
        assert.strictEqual(yield* reasonFor({ from: "bert" }), "human takeover")

        const skipped = yield* call("GET", `${url}/v1/ai/logs?account_id=${id}&status=skipped&limit=100`, { token })
        const reasons: ReadonlyArray<string> = skipped.body.data.map(({ reason }: { reason: string }) => reason)
        deepStrictEqual([...new Set(reasons)].toSorted(), [...SkipReason.literals].toSorted(), "every reason there is")
      }).pipe(Effect.scoped),
    240_000
  )

  it.live(
    "answers trials by token and by operator, with its own words when it fails",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        const { channel, mock, put, url } = yield* begun(world, {})
        mock.onMessage(/key/, error(401, "Incorrect: sk-secret-of-the-shop", "invalid_api_key"))
        mock.onMessage(/.*/, { content: "Yes." })
        yield* write(world, "anna", "shop", "Hello?")
        yield* settledLogs(url, channel.token, channel.id, 1)
        const { body: chats } = yield* call("GET", `${url}/v1/accounts/${channel.id}/chats`, { token: channel.token })
        const chat_id: string = chats.data[0].chat_id
        const tryIt = (body: object) => call("POST", `${url}/v1/ai/chat/test`, { token: channel.channelToken, body })
        const tryAdmin = (body: object) => call("POST", `${url}/v1/ai/admin/test`, { token: channel.token, body })
        yield* put("/ai/global", { enabled: false })

        const plain = yield* tryIt({ message: "Open?" })
        assert.strictEqual(plain.status, 200)
        const { latency_ms, usage, ...trial } = plain.body.data
        deepStrictEqual(trial, { reply: "Yes.", model_name: "m-3", sent_message: null })
        assert.isAtLeast(latency_ms, 0)
        assert.isAbove(usage.prompt_tokens, 0)
        const sent = yield* tryIt({ message: "Open?", chat_id, send_to_chat: true })
        deepStrictEqual([sent.body.data.sent_message.status, sent.body.data.sent_message.source], ["sent", "ai"])
        assert.strictEqual((yield* chatOf(world, "anna")).at(-1)?.text, "Yes.")
        const asked: any = mock.getLastRequest()?.body
        deepStrictEqual(
          asked.messages.map(({ content }: any) => content),
          ["Be brief.", "Hello?", "Yes.", "Open?"]
        )

        const keyed = { "idempotency-key": "trial-1" }
        const send = call("POST", `${url}/v1/ai/chat/test`, {
          token: channel.channelToken,
          headers: keyed,
          body: { message: "Again?", chat_id, send_to_chat: true }
        })
        const once = yield* send
        const askedBefore = mock.getRequests().length
        yield* forgetAnswers(world.databaseUrl)
        const repeated = yield* send
        assert.strictEqual(repeated.status, 200, JSON.stringify(repeated.body))
        assert.strictEqual(repeated.body.data.sent_message.message_id, once.body.data.sent_message.message_id)
        assert.strictEqual(repeated.body.data.reply, "Yes.")
        assert.lengthOf(mock.getRequests(), askedBefore)
        assert.lengthOf(
          (yield* chatOf(world, "anna")).filter(({ from }) => from === "shop"),
          3
        )

        assert.strictEqual((yield* tryAdmin({ message: "Open?" })).body.data.reply, "Yes.")
        assert.strictEqual((yield* tryAdmin({ message: "Open?", account_id: channel.id, chat_id })).status, 200)

        const refused = yield* tryIt({ message: "Which key?" })
        assert.strictEqual(refused.status, 502)
        assert.match(refused.body.message, /Incorrect: \*\*\*/)
        const wrong = [
          [yield* tryIt({ message: "Open?", chat_id: "pb:1" }), 404],
          [yield* tryIt({ message: " " }), 422],
          [yield* tryAdmin({ message: "Open?", chat_id }), 422],
          [yield* tryAdmin({ message: "Open?", account_id: "019a9a4e-33c8-7b9a-a1d4-0c8e5f2b7d6e" }), 404],
          [yield* call("POST", `${url}/v1/ai/admin/test`, { token: channel.channelToken, body: { message: "x" } }), 401]
        ] as const
        for (const [answer, status] of wrong) assert.strictEqual(answer.status, status, JSON.stringify(answer.body))
        yield* put("/ai/global", { api_key: null })
        assert.strictEqual((yield* tryIt({ message: "Open?" })).status, 409)
        yield* put("/ai/global", { echo_mode: true })
        assert.strictEqual((yield* tryIt({ message: "Open?" })).body.data.reply, "Open?")
      }).pipe(Effect.scoped),
    240_000
  )
})
