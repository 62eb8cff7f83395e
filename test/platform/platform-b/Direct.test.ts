import { assert, describe, it } from "@effect/vitest"
import { assertNone, assertSome, deepStrictEqual } from "@effect/vitest/utils"
import { Array, DateTime, Effect, Option } from "effect"
import { PlatformB, type Session } from "../../../src/platform/Platform.ts"
import { login, reasonOf, withSimulator } from "./SimulatedChannel.ts"

const baseline = (session: Session) => Effect.flatMap(PlatformB, (platform) => platform.poll(session, Option.none()))

const pathsOf = (calls: ReadonlyArray<{ readonly path: string }>) =>
  calls.map(({ path }) => path.replace("/api/v1", ""))

describe("polling platform_b", () => {
  it.live("keeps every digit of the platform's ids", () =>
    withSimulator(({ account, control }) =>
      Effect.gen(function* () {
        const platform = yield* PlatformB
        const shop = yield* account()
        const { session } = yield* login(shop)
        const first = yield* baseline(session)
        const { body } = yield* control("/messages", { from: "ann", to: shop.username, text: "90071992547409931" })
        const { messages } = yield* platform.poll(first.session, Option.some(first.cursor))
        assert.strictEqual(messages[0]?.platformMessageId, body.item.item_id)
        assert.strictEqual(messages[0]?.chatId, `pb:${body.thread_id}`)
        assert.strictEqual(messages[0]?.body, "90071992547409931")
        assert.isAbove(Number(body.item.item_id), Number.MAX_SAFE_INTEGER)
        const millis = Option.map(Array.head(messages), ({ timestamp }) => DateTime.toEpochMillis(timestamp))
        assertSome(millis, Math.floor(Number(body.item.timestamp) / 1000))
      })
    )
  )

  it.live("keeps the order of microseconds", () =>
    withSimulator(({ account, write }) =>
      Effect.gen(function* () {
        const platform = yield* PlatformB
        const shop = yield* account()
        const { session } = yield* login(shop)
        const first = yield* baseline(session)
        const texts = ["a", "b", "c", "d"]
        yield* Effect.forEach(texts, (text, index) =>
          write({ from: index % 2 ? "ben" : "ann", to: shop.username, text, timestamp: `199000000000000${index}` })
        )
        const second = yield* platform.poll(first.session, Option.some(first.cursor))
        deepStrictEqual(
          second.messages.map(({ body }) => body),
          texts
        )
        yield* write({ from: "ann", to: shop.username, text: "e", timestamp: "1990000000000002" })
        const third = yield* platform.poll(second.session, Option.some(second.cursor))
        deepStrictEqual(
          third.messages.map(({ body }) => body),
          ["e"]
        )
        const fourth = yield* platform.poll(third.session, Option.some(third.cursor))
        deepStrictEqual(fourth.messages, [])
      })
    )
  )

  it.live("goes through pages of threads and of items, and no further than needed", () =>
    withSimulator(({ account, control, look, write }) =>
      Effect.gen(function* () {
        const platform = yield* PlatformB
        const shop = yield* account()
        const { session } = yield* login(shop)
        yield* write({ from: "old friend", to: shop.username, text: "before" })
        const first = yield* baseline(session)
        const people = Array.makeBy(45, (index) => `person${index}`)
        yield* Effect.forEach(people, (from) => write({ from, to: shop.username, text: `of ${from}` }))
        const many = Array.makeBy(64, (index) => `number ${index}`)
        yield* Effect.forEach(many, (text) => write({ from: "person3", to: shop.username, text }))
        const second = yield* platform.poll(first.session, Option.some(first.cursor))
        deepStrictEqual(
          second.messages.map(({ body }) => body),
          [...people.map((name) => `of ${name}`), ...many]
        )
        yield* write({ from: "person5", to: shop.username, text: "one more" })
        yield* control("/failures", { path: "/nothing/" })
        const before = (yield* look("/requests")).length
        const third = yield* platform.poll(second.session, Option.some(second.cursor))
        deepStrictEqual(
          third.messages.map(({ body }) => body),
          ["one more"]
        )
        deepStrictEqual(pathsOf((yield* look("/requests")).slice(before)), ["/direct_v2/inbox/"])
      })
    )
  )

  it.live("reports and approves requests, also when the approval is refused", () =>
    withSimulator(({ account, control, look, write }) =>
      Effect.gen(function* () {
        const platform = yield* PlatformB
        const shop = yield* account()
        const { session } = yield* login(shop)
        yield* write({ from: "earlier", to: shop.username, text: "old request", request: true })
        const first = yield* baseline(session)
        yield* write({ from: "stranger", to: shop.username, text: "may I?", request: true })
        const second = yield* platform.poll(first.session, Option.some(first.cursor))
        deepStrictEqual(
          second.messages.map(({ body }) => body),
          ["may I?"]
        )
        const pending = (threads: ReadonlyArray<{ pending: boolean; members: Array<string> }>) =>
          threads
            .filter((thread) => thread.pending)
            .flatMap(({ members }) => members.filter((name) => name !== shop.username))
        deepStrictEqual(pending(yield* look("/threads")), ["earlier"])
        yield* control("/failures", {
          path: "/approve/",
          status: 400,
          body: { message: "feedback_required", spam: true }
        })
        yield* write({ from: "another", to: shop.username, text: "and I?", request: true })
        const third = yield* platform.poll(second.session, Option.some(second.cursor))
        deepStrictEqual(
          third.messages.map(({ body }) => body),
          ["and I?"]
        )
        deepStrictEqual(pending(yield* look("/threads")), ["earlier", "another"])
        yield* control("/failures", { path: "/approve/", status: 429 })
        yield* write({ from: "last", to: shop.username, text: "me?", request: true })
        const limited = platform.poll(third.session, Option.some(third.cursor))
        assert.strictEqual(yield* reasonOf(limited), "rate_limited")
        deepStrictEqual(
          (yield* limited).messages.map(({ body }) => body),
          ["me?"]
        )
      })
    )
  )

  it.live("tells groups, other kinds and what the owner typed", () =>
    withSimulator(({ account, control, write }) =>
      Effect.gen(function* () {
        const platform = yield* PlatformB
        const shop = yield* account()
        const { session } = yield* login(shop)
        const first = yield* baseline(session)
        const group = yield* control("/groups", { title: "friends", members: [shop.username, "ann", "ben"] })
        const { thread_id } = group.body
        yield* write({ from: "ben", thread_id, text: "hey all" })
        yield* write({ from: shop.username, thread_id, text: "by hand", client_context: "6800011111111111111" })
        yield* write({ from: "ann", thread_id, type: "action_log", fields: { action_log: {} } })
        yield* write({ from: "ann", thread_id, type: "media", fields: { media: { media_type: 2 } } })
        const { messages } = yield* platform.poll(first.session, Option.some(first.cursor))
        deepStrictEqual(
          messages.map(({ body, chatName, chatType, clientId, direction, sender, type }) => ({
            chat: [chatType, Option.getOrNull(chatName)],
            message: [direction, Option.getOrNull(sender), type, body, Option.getOrNull(clientId)]
          })),
          [
            { chat: ["group", "friends"], message: ["incoming", "ben", "text", "hey all", null] },
            {
              chat: ["group", "friends"],
              message: ["outgoing", shop.username, "text", "by hand", "6800011111111111111"]
            },
            { chat: ["group", "friends"], message: ["incoming", "ann", "video", "", null] }
          ]
        )
      })
    )
  )
})

describe("sending on platform_b", () => {
  it.live("goes nowhere but to a thread or a name", () =>
    withSimulator(({ account, look }) =>
      Effect.gen(function* () {
        const platform = yield* PlatformB
        const { session } = yield* login(yield* account())
        const before = (yield* look("/requests")).length
        const targets = [
          "ann",
          "pb:",
          "pb:1,2",
          "pb:../x",
          "pb:1?x=",
          "pbuser:",
          "pbuser:..",
          "pbuser:a/b",
          "pbuser:a b",
          ""
        ]
        for (const to of targets) {
          assert.strictEqual(yield* reasonOf(platform.send(session, { to, body: "x", clientId: "c" })), "unknown_user")
        }
        assert.strictEqual((yield* look("/requests")).length, before)
        assert.strictEqual(
          yield* reasonOf(platform.send(session, { to: "pb:42", body: "x", clientId: "c" })),
          "not_found"
        )
        const named = platform.send(session, { to: "pbuser:no.body", body: "x", clientId: "c" })
        assert.strictEqual(yield* reasonOf(named), "unknown_user")
      })
    )
  )

  it.live("is found again after an answer that was lost, in a thread and under a name", () =>
    withSimulator(({ account, control, look, write }) =>
      Effect.gen(function* () {
        const platform = yield* PlatformB
        const shop = yield* account()
        const { session } = yield* login(shop)
        yield* control("/settings", { deduplicates: false })
        yield* control("/people", { username: "ann" })
        yield* control("/failures", { path: "/broadcast/text/", status: 502, kind: "answer_after_effect" })
        const message = { to: "pbuser:ann", body: "hi", clientId: "01a1fd14-94fa-7000-8000-00c4e62d5152" }
        assert.strictEqual(yield* reasonOf(platform.send(session, message)), "unavailable")
        const byName = yield* platform.findSent(session, { chatId: message.to, clientId: message.clientId })
        const found = Option.getOrThrow(byName)
        const { chatId } = found
        yield* Effect.forEach(Array.range(1, 30), (index) =>
          write({ from: "ann", to: shop.username, text: `later ${index}` })
        )
        assertSome(yield* platform.findSent(session, { chatId, clientId: message.clientId }), found)
        assertNone(yield* platform.findSent(session, { chatId, clientId: "another" }))
        const [thread] = yield* look("/threads?with=ann")
        assert.strictEqual(thread.items.filter(({ text }: { text: string }) => text === "hi").length, 1)
      })
    )
  )

  it.live("understands both forms of the acknowledgement", () =>
    withSimulator(({ account, control }) =>
      Effect.gen(function* () {
        const platform = yield* PlatformB
        const { session } = yield* login(yield* account())
        const written = { item_id: "30000000000000000001", timestamp: 1700000000123456, thread_id: 340282366841710300 }
        const raw = `{"status":"ok","message_metadata":[${JSON.stringify(written)}]}`
        yield* control("/failures", { path: "/broadcast/text/", status: 200, raw })
        const sent = yield* platform.send(session, { to: "pb:340282366841710300", body: "x", clientId: "c" })
        assert.strictEqual(sent.platformMessageId, "30000000000000000001")
        assert.strictEqual(sent.chatId, "pb:340282366841710300")
        yield* control("/failures", { path: "/broadcast/text/", status: 200, body: { status: "ok" } })
        assert.strictEqual(
          yield* reasonOf(platform.send(session, { to: "pb:1", body: "x", clientId: "c" })),
          "unavailable"
        )
      })
    )
  )
})
