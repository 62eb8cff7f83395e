import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Answer, call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { chatOf, eventually, makeChannel, makeWorld, write } from "../support/Story.ts"

const half = "Yes 😀".slice(0, -1)
const whole = "Yes \ufffd"
const nul = "a\0b"

describe("a text that was cut in the middle of an emoji", () => {
  it.live(
    "goes through with a sign for it, and NUL is refused where it stands",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        const { url } = yield* Gatehouse.serve(world.env)
        const { channelToken, id, token } = yield* makeChannel(world, url)
        const account = `${url}/v1/accounts/${id}`
        yield* write(world, "carla", "shop", `Open? ${half}`)
        const [{ chat_id }] = yield* eventually(
          Effect.map(call("GET", `${account}/chats`, { token }), ({ body }) =>
            body.data.length > 0 ? body.data : undefined
          ),
          "the chat"
        )
        const chat = `${account}/chats/${encodeURIComponent(chat_id)}`
        yield* eventually(
          Effect.map(chatOf(world, "carla"), (items) => items[1]),
          "an answer"
        )

        const as = (token: string) => (method: string, url: string) => (body: object) =>
          call(method, url, { token, body })
        const [operator, owner] = [as(token), as(channelToken)]
        const puts: ReadonlyArray<
          readonly [put: (body: object) => Effect.Effect<Answer>, fields: (text: string) => object]
        > = [
          [owner("POST", `${url}/v1/messages/text`), (body) => ({ to: chat_id, body })],
          [operator("PATCH", chat), (name) => ({ name })],
          [operator("PUT", `${account}/ai`), (text) => ({ system_prompt: text, business_knowledge: text })],
          [
            operator("PUT", `${account}/ai`),
            (text) => ({ manager_alerts: { enabled: true, to: `pb:${text}`, keywords: [text] } })
          ],
          [operator("PUT", `${chat}/ai`), (text) => ({ mode: "inherit", custom_system_prompt: text })],
          [owner("POST", `${url}/v1/ai/chat/test`), (message) => ({ message })],
          [operator("PATCH", account), (name) => ({ name })],
          [operator("PUT", `${url}/v1/ai/global`), (text) => ({ default_system_prompt: text, model_name: text })],
          [operator("PUT", `${url}/v1/ai/global`), (text) => ({ base_url: `http://127.0.0.1:9/${text}` })]
        ]
        for (const [put, fields] of puts) {
          const taken = yield* put(fields(half))
          assert.include([200, 201], taken.status, JSON.stringify([fields(half), taken.body]))
          assert.notMatch(JSON.stringify(taken.body), /\\ud83d/, JSON.stringify(fields(half)))
          const refused = yield* put(fields(nul))
          assert.strictEqual(refused.status, 422, JSON.stringify([fields(nul), refused.body]))
          assert.match(JSON.stringify(refused.body.errors), /must not contain/)
        }
        const { body: hook } = yield* operator("POST", `${account}/webhooks`)({ url: `http://127.0.0.1:9/${nul}` })
        assert.hasAllKeys(hook.errors, ["url"])
        const said = (yield* chatOf(world, "carla")).filter(({ from }) => from === "shop")
        assert.include(said[0]?.text, `Open? ${whole}`)
        assert.strictEqual(said[1]?.text, whole)

        const nobody = encodeURIComponent(nul)
        const asked = [
          [yield* call("GET", `${account}/chats/${nobody}/messages`, { token }), 404],
          [yield* call("PUT", `${account}/chats/${nobody}/ai`, { token, body: { mode: "inherit" } }), 404],
          [yield* call("GET", `${url}/v1/ai/logs?chat_id=${nobody}`, { token }), 200],
          [yield* call("GET", `${url}/v1/webhook-deliveries?event=${nobody}`, { token }), 200],
          [yield* owner("POST", `${url}/v1/ai/chat/test`)({ message: "x", chat_id: nul }), 422],
          [yield* owner("POST", `${url}/v1/messages/text`)({ to: `pb:1${nul}`, body: "x" }), 422]
        ] as const
        for (const [answer, status] of asked) assert.strictEqual(answer.status, status, JSON.stringify(answer.body))
      }).pipe(Effect.scoped),
    120_000
  )
})
