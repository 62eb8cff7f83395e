import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Option, Redacted } from "effect"
import { PlatformB } from "../../../src/platform/Platform.ts"
import { call } from "../../support/Api.ts"
import { login, withSimulator } from "../../platform/platform-b/SimulatedChannel.ts"

const textsOf = (thread: { readonly items: ReadonlyArray<{ readonly text: string }> }) =>
  thread.items.map(({ text }) => text)

describe("the simulator of platform_b", () => {
  it.live("takes a repeated send once, or twice when it is told to", () =>
    withSimulator(({ account, control, look }) =>
      Effect.gen(function* () {
        const platform = yield* PlatformB
        const { session } = yield* login(yield* account())
        yield* control("/people", { username: "ann" })
        const message = { to: "pbuser:ann", body: "hi", clientId: "c-1" }
        const first = yield* platform.send(session, message)
        deepStrictEqual(yield* platform.send(session, message), first)
        yield* control("/settings", { deduplicates: false })
        assert.notStrictEqual((yield* platform.send(session, message)).platformMessageId, first.platformMessageId)
        const [thread] = yield* look("/threads?with=ann")
        deepStrictEqual(textsOf(thread), ["hi", "hi"])
      })
    )
  )

  it.live("keeps accounts apart", () =>
    withSimulator(({ account, write }) =>
      Effect.gen(function* () {
        const platform = yield* PlatformB
        const shop = yield* account()
        const other = yield* account()
        const [ours, theirs] = yield* Effect.all([login(shop), login(other)])
        const [mine, others] = yield* Effect.all([
          platform.poll(ours.session, Option.none()),
          platform.poll(theirs.session, Option.none())
        ])
        yield* write({ from: "ann", to: shop.username, text: "for the shop" })
        const seen = yield* platform.poll(ours.session, Option.some(mine.cursor))
        assert.strictEqual(seen.messages.length, 1)
        deepStrictEqual((yield* platform.poll(theirs.session, Option.some(others.cursor))).messages, [])
        const foreign = platform.send(theirs.session, { to: seen.messages[0]?.chatId ?? "", body: "x", clientId: "c" })
        assert.strictEqual((yield* Effect.flip(foreign)).reason, "not_found")
        yield* platform.send(ours.session, { to: `pbuser:${other.username}`, body: "to a colleague", clientId: "d" })
        const between = yield* platform.poll(theirs.session, Option.some(others.cursor))
        deepStrictEqual(
          between.messages.map(({ body, direction }) => [body, direction]),
          [["to a colleague", "incoming"]]
        )
      })
    )
  )

  it.live("lists calls without secrets, marks as read, and refuses what makes no sense", () =>
    withSimulator(({ account, control, look, url }) =>
      Effect.gen(function* () {
        const shop = yield* account({ two_factor_code: "123456" })
        const asked = yield* login(shop)
        const { session } = yield* login(shop, { pending: asked.session, code: "123456" })
        const { body } = yield* control("/messages", { from: "ann", to: shop.username, text: "hello" })
        const path = `/api/v1/direct_v2/threads/${body.thread_id}/items/${body.item.item_id}/seen/`
        assert.strictEqual((yield* call("POST", `${url}${path}`)).status, 403)
        const { authorization } = JSON.parse(Redacted.value(session))
        assert.strictEqual((yield* call("POST", `${url}${path}`, { headers: { authorization } })).status, 200)
        const calls = JSON.stringify(yield* look("/requests"))
        for (const secret of [shop.password, "123456", "Bearer", "PWD_INSTAGRAM"]) assert.notInclude(calls, secret)
        assert.strictEqual((yield* control("/messages", { from: "ann", to: "ben", text: "?" })).status, 404)
        assert.strictEqual((yield* control("/accounts", { username: "" })).status, 422)
        assert.strictEqual((yield* control("/nothing", {})).status, 404)
        yield* call("DELETE", `${url}/_control/requests`)
        deepStrictEqual(yield* look("/requests"), [])
      })
    )
  )
})
