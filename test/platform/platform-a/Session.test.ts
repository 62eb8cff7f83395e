import { assert, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Chunk, Effect, Layer, Option, type Scope } from "effect"
import type { PlatformEvent } from "../../../src/platform/domain/PlatformEvent.ts"
import { PlatformA, type PushConnection } from "../../../src/platform/Platform.ts"
import { until } from "../../support/Until.ts"
import { connect, linked, makeSide, nextEvent, type Side } from "./LinkedPhone.ts"

const phone = "491700000001"
const ann = "491700000002"

const withSide = <A, E>(
  use: (
    side: Side,
    anew: <B, F>(part: Effect.Effect<B, F, PlatformA>) => Effect.Effect<B, F>
  ) => Effect.Effect<A, E, PlatformA | Scope.Scope>
) =>
  Effect.scoped(
    Effect.flatMap(makeSide, (side) =>
      Effect.provide(
        use(side, (part) => Effect.provide(part, Layer.fresh(side.driver))),
        side.driver
      )
    )
  )

const rest = (connection: PushConnection): Effect.Effect<ReadonlyArray<PlatformEvent>> =>
  Effect.flatMap(connection.events.takeAll, ([events, isDone]) => {
    const found = Chunk.toReadonlyArray(events)
    return isDone ? Effect.succeed(found) : Effect.map(rest(connection), (more) => [...found, ...more])
  })

const say = (side: Side, text: string, more: object = {}) =>
  side.control("POST", "/messages", { from: ann, account: phone, text, ...more })

it.live(
  "keys survive a restart; what waited meanwhile comes in order, and what the platform repeats comes again",
  () =>
    withSide((side, anew) =>
      Effect.gen(function* () {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const connection = yield* linked(side, "one", phone)
            yield* say(side, "before")
            yield* nextEvent(connection, "SeenMessage")
          })
        )
        yield* say(side, "one")
        yield* say(side, "two", { times: 2 })
        yield* say(side, "three")
        const bodies = yield* anew(
          Effect.scoped(
            Effect.gen(function* () {
              const connection = yield* connect("one")
              const seen: Array<string> = []
              while (!seen.includes("three")) seen.push((yield* nextEvent(connection, "SeenMessage")).body)
              return seen
            })
          )
        )
        deepStrictEqual([...new Set(bodies)], ["one", "two", "three"])
      })
    ),
  240_000
)

it.live("a phone that has linked us stays linked, however slowly the session is stored", () =>
  withSide((side) =>
    Effect.gen(function* () {
      side.vault.busy.for = "300 millis"
      yield* linked(side, "one", phone)
    })
  )
)

const inGroup = (side: Side) =>
  Effect.map(side.control("POST", "/groups", { subject: "Crew", members: [phone, ann] }), ({ body }) => ({
    group: body.id
  }))

it.live.each([
  ["a message", () => Effect.succeed({})],
  ["a message to a group, which is not sealed,", inGroup]
] as const)(
  "%s that nobody has stored when the program dies arrives again, although the platform knows that it arrived",
  ([, place]) =>
    withSide((side, anew) =>
      Effect.gen(function* () {
        const where = yield* place(side)
        const confirmed = Effect.map(side.control("GET", "/confirmed"), ({ body }) => body)
        const wasConfirmed = (id: string) => (ids: ReadonlyArray<{ readonly id: string }>) =>
          ids.some((one) => one.id === id)
        const { body: lost } = yield* Effect.scoped(
          Effect.gen(function* () {
            yield* linked(side, "one", phone)
            yield* say(side, "stored before", where)
            const message = yield* say(side, "not stored", where)
            yield* until(confirmed, wasConfirmed(message.body.id))
            return message
          })
        )
        const again = yield* anew(
          Effect.scoped(
            Effect.gen(function* () {
              const connection = yield* connect("one")
              const first = yield* nextEvent(connection, "SeenMessage")
              const second = yield* nextEvent(connection, "SeenMessage")
              yield* until(
                Effect.sync(() => [...side.vault.keys.keys()]),
                (places) => places.every((place) => !place.startsWith("one/arrival/"))
              )
              return [first, second]
            })
          )
        )
        deepStrictEqual(
          again.map(({ body }) => body),
          ["stored before", "not stored"]
        )
        assert.strictEqual(again[1]?.platformMessageId, lost.id)
        const third = yield* anew(
          Effect.scoped(
            Effect.gen(function* () {
              const connection = yield* connect("one")
              yield* nextEvent(connection, "Connected")
              yield* say(side, "later", where)
              return yield* nextEvent(connection, "SeenMessage")
            })
          )
        )
        assert.strictEqual(third.body, "later")
      })
    ),
  240_000
)

it.live(
  "a message that the other side could not read is sent to him again, as it was, after a restart too",
  () =>
    withSide((side, anew) =>
      Effect.gen(function* () {
        const sent = yield* Effect.scoped(
          Effect.gen(function* () {
            const connection = yield* linked(side, "one", phone)
            yield* side.control("POST", "/people", { phone: ann })
            return yield* connection.send({ to: ann, body: "read me", clientId: "m-1" })
          })
        )
        const asked: Array<string> = []
        const sentText = (id: string) => Effect.sync(() => (asked.push(id), Option.some("read me")))
        yield* anew(
          Effect.scoped(
            Effect.gen(function* () {
              const connection = yield* connect("one", Option.none(), sentText)
              yield* nextEvent(connection, "Connected")
              yield* side.control("POST", "/retries", { id: sent.platformMessageId })
              yield* until(
                Effect.map(side.control("GET", "/sent"), ({ body }) => body[0]),
                ({ text, times }) => times === 2 && text === "read me"
              )
            })
          )
        )
        deepStrictEqual(asked, [sent.platformMessageId])
      })
    ),
  240_000
)

it.live(
  "unlinking takes the link back on the platform, and says when the platform is away",
  () =>
    withSide((side) =>
      Effect.gen(function* () {
        const platform = yield* PlatformA
        yield* Effect.scoped(linked(side, "one", phone))
        const devices = Effect.map(side.control("GET", "/devices"), ({ body }) => body)
        assert.strictEqual((yield* devices).length, 1)
        yield* side.control("POST", "/failures", { reason: "503" })
        assert.strictEqual((yield* Effect.flip(platform.unlink("one"))).reason, "unavailable")
        assert.strictEqual((yield* devices).length, 1)
        yield* platform.unlink("one")
        deepStrictEqual(yield* devices, [])
      })
    ),
  240_000
)

it.live(
  "who connects later owns the session: the earlier one is told, and writes no more",
  () =>
    withSide((side, anew) =>
      Effect.gen(function* () {
        const first = yield* linked(side, "one", phone)
        yield* anew(
          Effect.scoped(
            Effect.gen(function* () {
              const second = yield* connect("one")
              yield* nextEvent(second, "Connected")
              const events = yield* rest(first)
              const last = events.at(-1)
              assert.isTrue(last?._tag === "Closed" && ["replaced", "stopped"].includes(last.end))
              const late = yield* Effect.flip(first.send({ to: ann, body: "late", clientId: "late" }))
              assert.strictEqual(late.reason, "unavailable")
              yield* say(side, "to the owner")
              assert.strictEqual((yield* nextEvent(second, "SeenMessage")).body, "to the owner")
            })
          )
        )
      })
    ),
  240_000
)

it.live(
  "a repeated send is one message on the platform",
  () =>
    withSide((side) =>
      Effect.gen(function* () {
        const connection = yield* linked(side, "one", phone)
        yield* side.control("POST", "/people", { phone: ann })
        const message = { to: ann, body: "once", clientId: "m-1" }
        const sent = yield* connection.send(message)
        const again = yield* connection.send(message)
        assert.strictEqual(again.platformMessageId, sent.platformMessageId)
        const { body } = yield* side.control("GET", "/sent")
        assert.strictEqual(body.length, 1)
        yield* side.control("POST", "/refusals", { error: "463" })
        const refused = yield* Effect.flip(connection.send({ ...message, clientId: "m-2" }))
        assert.strictEqual(refused.reason, "action_blocked")
      })
    ),
  240_000
)

it.live(
  "typing is shown to the other side",
  () =>
    withSide((side) =>
      Effect.gen(function* () {
        const connection = yield* linked(side, "one", phone)
        const typing = yield* connection.typing
        yield* typing(`${ann}@s.whatsapp.net`, true)
        yield* connection.send({ to: `${phone}`, body: "note to self", clientId: "x" }).pipe(Effect.either)
        const { body } = yield* side.control("GET", "/typing")
        assert.strictEqual(body[0].state, "composing")
      })
    ),
  240_000
)
