import { assert, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Chunk, Effect, Layer, type Scope } from "effect"
import type { PlatformEvent } from "../../../src/platform/domain/PlatformEvent.ts"
import { PlatformA, type PushConnection } from "../../../src/platform/Platform.ts"
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
  60_000
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
  60_000
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
  60_000
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
  60_000
)
