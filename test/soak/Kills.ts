import { assert } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Random, Schedule } from "effect"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { chatOf, eventually, makeChannel, makeWorld, write } from "../support/Story.ts"

const people = ["carla", "dora", "emil"]

/**
 * Messages flow both ways between a channel and three people while the program is killed with -9 again and again, at
 * moments that nobody chose. Afterwards every message is there once, on both sides, and there was one login.
 */
export const talkUnderKills = Effect.fn("talkUnderKills")(function* (kills: number) {
  const world = yield* makeWorld
  let program = yield* Gatehouse.serve(world.env)
  const port = new URL(program.url).port
  const { url } = program
  const channel = yield* makeChannel(world, url)
  yield* call("PUT", `${url}/v1/ai/global`, { token: channel.token, body: { enabled: false } })
  for (const username of people) yield* call("POST", `${world.platformB.url}/_control/people`, { body: { username } })
  const written: Array<string> = []
  const accepted: Array<string> = []
  let ended = 0

  /** Repeats a call under one key until it is answered, as a careful caller does. */
  const send = (to: string, body: string) =>
    Effect.promise(() =>
      fetch(`${url}/v1/messages/text`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${channel.channelToken}`,
          "content-type": "application/json",
          "idempotency-key": body
        },
        body: JSON.stringify({ to: `pbuser:${to}`, body })
      }).then(
        (answer) => answer.status,
        () => 0
      )
    ).pipe(Effect.repeat({ until: (status) => status === 200, schedule: Schedule.spaced("200 millis") }))

  const talk = (person: string) =>
    Effect.gen(function* () {
      let turn = 0
      while (ended < kills) {
        turn += 1
        yield* write(world, person, "shop", `${person} asks ${turn}`)
        written.push(`${person} asks ${turn}`)
        yield* send(person, `${person} hears ${turn}`)
        accepted.push(`${person} hears ${turn}`)
      }
    })

  const killing = Effect.gen(function* () {
    while (ended < kills) {
      yield* Effect.sleep(yield* Random.nextIntBetween(300, 2_500))
      yield* Gatehouse.kill9(program)
      program = yield* Gatehouse.serve({ ...world.env, PORT: port })
      ended += 1
    }
  })
  yield* Effect.all([killing, ...people.map(talk)], { concurrency: "unbounded", discard: true })

  const stored = (chat: string) =>
    Effect.gen(function* () {
      const found: Array<string> = []
      let cursor: string | null = ""
      while (cursor !== null) {
        const path = `${url}/v1/accounts/${channel.id}/chats/${encodeURIComponent(chat)}/messages?limit=100`
        const page: any = (yield* call("GET", `${path}${cursor === "" ? "" : `&cursor=${cursor}`}`, channel)).body
        found.push(...page.data.map(({ body }: { body: string }) => body))
        cursor = page.next_cursor
      }
      return found
    })
  const allStored = Effect.gen(function* () {
    const { body } = yield* call("GET", `${url}/v1/accounts/${channel.id}/chats`, { token: channel.token })
    const chats: ReadonlyArray<string> = body.data.map(({ chat_id }: { chat_id: string }) => chat_id)
    return (yield* Effect.forEach(chats, stored)).flat()
  })
  const all = yield* eventually(
    Effect.map(allStored, (found) => (found.length >= written.length + accepted.length ? found : undefined)),
    "all messages stored"
  )
  deepStrictEqual(all.toSorted(), [...written, ...accepted].toSorted())

  for (const person of people) {
    const said = (yield* chatOf(world, person)).map(({ text }) => text)
    const turns = (who: string) =>
      said.filter((text) => text.startsWith(`${person} ${who}`)).map((text) => Number(text.split(" ")[2]))
    for (const who of ["asks", "hears"]) {
      deepStrictEqual(
        turns(who),
        turns(who).map((_, index) => index + 1)
      )
    }
  }
  const counted = (event: string) =>
    new Set(
      world.receiver.ledger.filter((one) => one.event === event).map(({ headers }) => headers["x-webhook-event-id"])
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
  assert.strictEqual(counted("connection.connected"), 1)
  yield* Effect.logInfo("kills").pipe(
    Effect.annotateLogs({
      kills,
      received: written.length,
      sent: accepted.length,
      deliveries: world.receiver.ledger.length
    })
  )
}, Effect.scoped)
