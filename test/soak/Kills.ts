import { assert } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Random, Schedule } from "effect"
import { query } from "../bench/Processes.ts"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { linkByQr, makeAccount, phonesBeside } from "../support/LinkedAccount.ts"
import { chatOf, eventually, makeChannel, makeWorld, unpaced, write } from "../support/Story.ts"

const people = ["carla", "dora", "emil"]
const shop = "491700000001"
const phonesOf = new Map([
  ["fred", "491700000002"],
  ["gina", "491700000003"]
])

/** Somebody who talks with a channel: how he writes, how he is written to, and what he reads, oldest first. */
interface Talker {
  readonly name: string
  readonly ask: (text: string) => Effect.Effect<unknown>
  readonly address: string
  readonly channelToken: string
  readonly reads: Effect.Effect<ReadonlyArray<string>>
}

/**
 * Messages flow both ways between a channel of each platform and people while the program is killed with -9 again and again, at
 * moments that nobody chose. Afterwards every message is there once, on both sides, and there was one login to each.
 */
export const talkUnderKills = Effect.fn("talkUnderKills")(function* (kills: number) {
  const world = yield* makeWorld
  const phones = yield* phonesBeside(world.receiver, world.databaseUrl)
  const env = { ...world.env, ...phones.env }
  let program = yield* Gatehouse.serve(env)
  const port = new URL(program.url).port
  const { url } = program
  const channel = yield* makeChannel(world, url)
  yield* call("PUT", `${url}/v1/ai/global`, { token: channel.token, body: { enabled: false } })
  const account = yield* makeAccount(phones, url)
  yield* account.at("PUT", "/pacing", unpaced)
  yield* linkByQr(phones, account, shop)
  for (const [name, phone] of phonesOf) yield* phones.control("/people", { phone, name })
  for (const username of people) yield* call("POST", `${world.platformB.url}/_control/people`, { body: { username } })
  const talkers: ReadonlyArray<Talker> = [
    ...people.map((name) => ({
      name,
      ask: (text: string) => write(world, name, "shop", text),
      address: `pbuser:${name}`,
      channelToken: channel.channelToken,
      reads: Effect.map(chatOf(world, name), (items) => items.map(({ text }) => text))
    })),
    ...[...phonesOf].map(([name, phone]) => ({
      name,
      ask: (text: string) => phones.control("/messages", { from: phone, account: shop, text }),
      address: phone,
      channelToken: account.channelToken,
      reads: Effect.map(phones.control("/sent"), ({ body }) =>
        body.filter(({ chat }: { chat: string }) => chat.startsWith(phone)).map(({ text }: { text: string }) => text)
      )
    }))
  ]
  const written: Array<string> = []
  const accepted: Array<string> = []
  let ended = 0

  /** Repeats a call under one key until it is answered, as a careful caller does. */
  const send = ({ address, channelToken }: Talker, body: string) =>
    Effect.promise(() =>
      fetch(`${url}/v1/messages/text`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${channelToken}`,
          "content-type": "application/json",
          "idempotency-key": body
        },
        body: JSON.stringify({ to: address, body })
      }).then(
        (answer) => answer.status,
        () => 0
      )
    ).pipe(Effect.repeat({ until: (status) => status === 200, schedule: Schedule.spaced("200 millis") }))

  const talk = (talker: Talker) =>
    Effect.gen(function* () {
      let turn = 0
      while (ended < kills || Math.min(written.length, accepted.length) <= kills) {
        turn += 1
        yield* talker.ask(`${talker.name} asks ${turn}`)
        written.push(`${talker.name} asks ${turn}`)
        yield* send(talker, `${talker.name} hears ${turn}`)
        accepted.push(`${talker.name} hears ${turn}`)
      }
    })

  /** What a dead program was about may be asked for again at once, not only after its lease: or nobody talks for minutes. */
  const leases = "UPDATE idempotency_keys SET leased_until = now() WHERE answer_sealed IS NULL"

  const killing = Effect.gen(function* () {
    while (ended < kills) {
      const before = Math.min(written.length, accepted.length)
      yield* Effect.repeat(
        Effect.sync(() => Math.min(written.length, accepted.length) > before),
        { until: (isAlive) => isAlive, schedule: Schedule.spaced("20 millis") }
      )
      yield* Effect.sleep(yield* Random.nextIntBetween(0, 1_500))
      yield* Gatehouse.kill9(program)
      yield* query(world.databaseUrl, leases)
      program = yield* Gatehouse.serve({ ...env, PORT: port })
      ended += 1
    }
  })
  yield* Effect.all([killing, ...talkers.map(talk)], { concurrency: "unbounded", discard: true })

  const stored = (id: string, chat: string) =>
    Effect.gen(function* () {
      const found: Array<string> = []
      let cursor: string | null = ""
      while (cursor !== null) {
        const path = `${url}/v1/accounts/${id}/chats/${encodeURIComponent(chat)}/messages?limit=100`
        const page: any = (yield* call("GET", `${path}${cursor === "" ? "" : `&cursor=${cursor}`}`, channel)).body
        found.push(...page.data.map(({ body }: { body: string }) => body))
        cursor = page.next_cursor
      }
      return found
    })
  const storedOf = Effect.fn(function* (id: string) {
    const { body } = yield* call("GET", `${url}/v1/accounts/${id}/chats`, { token: channel.token })
    const chats: ReadonlyArray<string> = body.data.map(({ chat_id }: { chat_id: string }) => chat_id)
    return (yield* Effect.forEach(chats, (chat) => stored(id, chat))).flat()
  })
  const allStored = Effect.map(Effect.forEach([channel.id, account.id], storedOf), (found) => found.flat())
  const all = yield* eventually(
    Effect.map(allStored, (found) => (found.length >= written.length + accepted.length ? found : undefined)),
    "all messages stored"
  )
  deepStrictEqual(all.toSorted(), [...written, ...accepted].toSorted())
  assert.isAbove(Math.min(written.length, accepted.length), kills)

  for (const { name, reads } of talkers) {
    const said = yield* reads
    const turns = (who: string) =>
      said.filter((text) => text.startsWith(`${name} ${who}`)).map((text) => Number(text.split(" ")[2]))
    for (const who of ["asks", "hears"]) {
      deepStrictEqual(
        turns(who),
        turns(who).map((_, index) => index + 1)
      )
    }
  }
  const counted = (event: string, of?: string) =>
    new Set(
      world.receiver.ledger
        .filter((one) => one.event === event && (of === undefined || one.data.data["account_id"] === of))
        .map(({ headers }) => headers["x-webhook-event-id"])
    ).size
  yield* eventually(
    Effect.sync(() =>
      counted("message.received") >= written.length && counted("message.sent") >= accepted.length ? true : undefined
    ),
    "all events"
  )
  deepStrictEqual([counted("message.received"), counted("message.sent")], [written.length, accepted.length])
  const { body } = yield* call("GET", `${url}/v1/accounts/${channel.id}`, { token: channel.token })
  assert.strictEqual(body.data.status, "connected")
  yield* account.becomes("connected")
  deepStrictEqual([counted("connection.connected", channel.id), counted("connection.qr", account.id)], [1, 1])
  yield* Effect.logInfo("kills").pipe(
    Effect.annotateLogs({
      kills,
      received: written.length,
      sent: accepted.length,
      deliveries: world.receiver.ledger.length
    })
  )
}, Effect.scoped)
