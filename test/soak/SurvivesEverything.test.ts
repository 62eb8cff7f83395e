import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Array, Clock, type Duration, Effect, Random, Ref, Schedule } from "effect"
import { Client } from "pg"
import { type Answer, call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { buy, chatOf, makeApp, makeChannel, makeWorld, type World, write } from "../support/Story.ts"

const minutes = Number(process.env["SOAK_MINUTES"] ?? 3)
const people = Array.makeBy(12, (nth) => `person${nth}`)

const residentMegabytes = (pid: number) => {
  const [, kilobytes = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? []
  return Math.round(Number(kilobytes) / 1024)
}

/** One delivery in twenty is refused. */
const misbehave = (world: World) =>
  Effect.gen(function* () {
    const status = (yield* Random.nextIntBetween(0, 20)) === 0 ? 503 : 200
    if (world.receiver.script.length < 5) world.receiver.script.push(status)
  })

const told = (world: World, event: string) =>
  new Set(
    world.receiver.ledger.filter((one) => one.event === event).map(({ headers }) => headers["x-webhook-event-id"])
  )

const query = (databaseUrl: string) =>
  Effect.promise(async () => {
    const client = new Client({ connectionString: databaseUrl })
    await client.connect()
    const { rows } = await client.query(`
      SELECT 'notification' AS what, state, count(*)::int FROM store_notifications GROUP BY 2
      UNION ALL SELECT type, '', count(*)::int FROM domain_events GROUP BY 1
      UNION ALL SELECT event, state, count(*)::int FROM webhook_deliveries GROUP BY 1, 2
      UNION ALL SELECT 'endpoint', url || is_active || coalesce(disabled_reason, ''), 1 FROM webhook_endpoints`)
    await client.end()
    return rows.map(Object.values).map(String)
  })

describe(`${minutes} minutes of talk and purchases under kill -9`, () => {
  it.live(
    "lose nothing and do nothing twice",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        const first = yield* Gatehouse.serve(world.env)
        const port = new URL(first.url).port
        const running = yield* Ref.make<Gatehouse.Gatehouse>(first)
        const app = yield* makeApp(first.url, world.receiver.url)
        yield* makeChannel(world, first.url)
        const memory: globalThis.Array<number> = []
        let kills = 0
        let written = 0
        const bought = new Map<string, Answer>()

        const end = (yield* Clock.currentTimeMillis) + minutes * 60_000

        /** Lets a step that has begun come to its end: interrupted in the middle, it would be done without being known. */
        const untilTheEnd = (every: Duration.DurationInput) =>
          Effect.repeat({
            while: () => Effect.map(Clock.currentTimeMillis, (now) => now < end),
            schedule: Schedule.jittered(Schedule.spaced(every))
          })

        const talk = Effect.gen(function* () {
          const person = people[written % people.length] ?? "person0"
          written += 1
          yield* write(world, person, "shop", `message ${written}`)
        }).pipe(untilTheEnd("400 millis"))

        const shop = Effect.gen(function* () {
          const nth = bought.size
          const token = `0d2f7a4e-7c1b-4a9e-8f0a-${String(nth).padStart(12, "0")}`
          bought.set(token, yield* buy(world, first.url, app.id, { app_account_token: token }))
        }).pipe(untilTheEnd("300 millis"))

        const crash = Effect.gen(function* () {
          const program = yield* Ref.get(running)
          memory.push(residentMegabytes(program.process.pid ?? 0))
          yield* Gatehouse.kill9(program)
          kills += 1
          yield* Ref.set(running, yield* Gatehouse.serve({ ...world.env, PORT: port }))
        }).pipe(untilTheEnd("6 seconds"))

        const loads = [talk, shop, Effect.delay(crash, "3 seconds"), misbehave(world).pipe(untilTheEnd("50 millis"))]
        yield* Effect.all(loads, { concurrency: "unbounded", discard: true })
        world.receiver.script.length = 0

        const answers = [...bought.values()].map(({ body }) => body)
        const lost = answers.filter(({ receiver }) => receiver?.status !== 200)
        const repeated = [...lost, ...answers.filter((_, nth) => nth % 10 === 0)]
        yield* Effect.forEach(
          repeated,
          ({ notification }) =>
            call("POST", `${world.storeA.url}/_control/notifications/${notification.notificationUUID}/resend`),
          { discard: true }
        )

        const answered = (person: string) =>
          Effect.map(chatOf(world, person), (chat) => ({
            asked: chat.filter(({ from }) => from === person).length,
            replied: chat.filter(({ from }) => from === "shop").length
          }))
        const isSettled = Effect.map(
          Effect.forEach(people, answered),
          (chats) =>
            chats.every(({ asked, replied }) => replied >= asked) &&
            told(world, "subscription.started").size >= bought.size &&
            told(world, "ai.reply.sent").size >= written
        )
        yield* Effect.repeat(isSettled, { until: (settled) => settled, schedule: Schedule.spaced("1 second") }).pipe(
          Effect.timeoutOption("3 minutes")
        )
        yield* Effect.sleep("3 seconds")

        const rows = yield* query(world.databaseUrl)
        yield* Effect.logInfo("state at the end").pipe(Effect.annotateLogs({ rows }))
        for (const person of people) {
          const { asked, replied } = yield* answered(person)
          assert.strictEqual(replied, asked, person)
        }
        assert.strictEqual(told(world, "subscription.started").size, bought.size)
        assert.strictEqual(told(world, "message.received").size, written)
        assert.strictEqual(told(world, "ai.reply.sent").size, written)
        const bodies = new Map<string, string>()
        for (const { body, headers } of world.receiver.ledger) {
          const id = String(headers["x-webhook-event-id"])
          assert.strictEqual(bodies.get(id) ?? body, body)
          bodies.set(id, body)
        }
        yield* Effect.logInfo("soak").pipe(
          Effect.annotateLogs({
            kills,
            messages: written,
            purchases: bought.size,
            lost: lost.length,
            events: bodies.size,
            deliveries: world.receiver.ledger.length,
            residentMegabytes: memory.join(" ")
          })
        )
      }).pipe(Effect.scoped),
    (minutes + 4) * 60_000
  )
})
