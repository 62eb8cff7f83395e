import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Fiber } from "effect"
import { call } from "../support/Api.ts"
import { closeGate } from "../support/Gate.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { buy, chatOf, eventually, makeApp, makeChannel, makeWorld, type World, write } from "../support/Story.ts"

const uniqueEvents = (world: World, name: string) =>
  new Set(
    world.receiver.ledger.filter(({ event }) => event === name).map(({ headers }) => headers["x-webhook-event-id"])
  ).size

const areTold = (world: World, names: ReadonlyArray<string>) =>
  eventually(
    Effect.sync(() => (names.every((name) => uniqueEvents(world, name) > 0) ? true : undefined)),
    names.join(", ")
  )

const blocked = (gate: { readonly waiting: Effect.Effect<number> }) =>
  eventually(
    Effect.map(gate.waiting, (count) => (count > 0 ? true : undefined)),
    "the program at the gate"
  )

const replySteps = [
  { table: "messages", on: "INSERT", when: "NEW.direction = 'incoming'" },
  { table: "ai_logs", on: "INSERT" },
  { table: "ai_logs", on: "UPDATE", when: "NEW.status = 'generated'" },
  { table: "messages", on: "INSERT", when: "NEW.source = 'ai'" },
  { table: "messages", on: "UPDATE", when: "NEW.status = 'sending'" },
  { table: "messages", on: "UPDATE", when: "NEW.status = 'sent'" },
  { table: "ai_logs", on: "UPDATE", when: "NEW.status = 'sent'" },
  { table: "webhook_attempts", on: "INSERT" }
] as const

describe("kill -9 between any two steps of a reply", () => {
  for (const step of replySteps) {
    const name = `${step.on} ${step.table} ${"when" in step ? step.when : ""}`
    it.live(
      `at ${name}: answered once, told once`,
      () =>
        Effect.scoped(
          Effect.gen(function* () {
            const world = yield* makeWorld
            const program = yield* Gatehouse.serve(world.env)
            yield* makeChannel(world, program.url)
            const gate = yield* closeGate(world.databaseUrl, step)
            yield* write(world, "carla", "shop", "Are you open?")
            yield* blocked(gate)
            yield* Gatehouse.kill9(program)
            yield* gate.open
            yield* Gatehouse.serve(world.env)
            const story = ["message.received", "ai.reply.generated", "message.sent", "ai.reply.sent"]
            yield* areTold(world, story)
            deepStrictEqual(
              (yield* chatOf(world, "carla")).map(({ from }) => from),
              ["carla", "shop"]
            )
            for (const event of story) assert.strictEqual(uniqueEvents(world, event), 1, event)
          })
        ),
      240_000
    )
  }

  it.live(
    "while the provider thinks, and when the platform sent but its answer was lost",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const world = yield* makeWorld
          const program = yield* Gatehouse.serve(world.env)
          yield* makeChannel(world, program.url)
          yield* call("POST", `${world.provider.url}/_control/answers`, { body: { kind: "hang" } })
          yield* call("POST", `${world.platformB.url}/_control/failures`, {
            body: { path: "broadcast/text", kind: "answer_after_effect", status: 500 }
          })
          yield* write(world, "carla", "shop", "Are you open?")
          yield* eventually(
            Effect.map(call("GET", `${world.provider.url}/_control/requests`), ({ body }) => body[0]),
            "a question to the provider"
          )
          yield* Gatehouse.kill9(program)
          yield* Gatehouse.serve(world.env)
          yield* areTold(world, ["message.sent", "ai.reply.sent"])
          deepStrictEqual(
            (yield* chatOf(world, "carla")).map(({ from }) => from),
            ["carla", "shop"]
          )
          assert.strictEqual(uniqueEvents(world, "message.sent"), 1)
        })
      ),
    240_000
  )
})

/** A renewing purchase is written in one statement; what never renews takes the way of several. */
const once = { product: { type: "Non-Consumable", product_id: "lifetime" }, told: "purchase.completed" }

const purchaseSteps = [
  { table: "store_notifications", on: "INSERT" },
  { table: "customers", on: "INSERT" },
  { table: "subscriptions", on: "INSERT" },
  { table: "transactions", on: "INSERT" },
  { table: "domain_events", on: "INSERT", when: "NEW.type = 'subscription.started'" },
  { table: "webhook_deliveries", on: "INSERT", when: "NEW.event = 'subscription.started'" },
  { table: "webhook_attempts", on: "INSERT" },
  { table: "customers", on: "INSERT", ...once },
  { table: "transactions", on: "INSERT", ...once },
  { table: "store_notifications", on: "UPDATE", ...once }
] as const

describe("kill -9 between any two steps of a purchase", () => {
  for (const step of purchaseSteps) {
    const { product, told } = "told" in step ? step : { product: {}, told: "subscription.started" }
    const name = `${step.on} ${step.table} ${"when" in step ? step.when : ""}`
    it.live(
      `at ${name}: applied once, told once: ${told}`,
      () =>
        Effect.scoped(
          Effect.gen(function* () {
            const world = yield* makeWorld
            const program = yield* Gatehouse.serve(world.env)
            const app = yield* makeApp(program.url, world.receiver.url)
            const gate = yield* closeGate(world.databaseUrl, step)
            const buying = yield* Effect.fork(buy(world, program.url, app.id, product))
            yield* blocked(gate)
            yield* Gatehouse.kill9(program)
            yield* gate.open
            const bought = yield* Fiber.join(buying)
            const { url } = yield* Gatehouse.serve(world.env)
            if (bought.body.receiver.status !== 200) {
              const signedPayload = bought.body.notification.signedPayload
              const repeated = yield* call("POST", `${url}/api/v1/stores/store_a/notifications/${app.id}`, {
                body: { signedPayload }
              })
              assert.strictEqual(repeated.status, 200)
            }
            yield* areTold(world, [told, "customer.created"])
            assert.strictEqual(uniqueEvents(world, told), 1)
            assert.strictEqual(uniqueEvents(world, "customer.created"), 1)
            const events = yield* call("GET", `${url}/api/v1/apps/${app.id}/events`, { token: app.token })
            assert.strictEqual(events.body.data.length, 2)
          })
        ),
      240_000
    )
  }
})
