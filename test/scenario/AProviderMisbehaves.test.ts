import { readFileSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array, Effect, Ref, Schedule } from "effect"
import { call } from "../support/Api.ts"
import { faultyProvider } from "../support/ChatProvider.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { chatOf, eventually, makeChannel, makeWorld, write } from "../support/Story.ts"

const megabyte = 1024 * 1024
const each = 8

/** What the words of the customer make of the provider. */
const misbehave = (response: ServerResponse, words: string, flooded: (bytes: number) => void) => {
  if (words.includes("hang")) return
  response.writeHead(200, { "content-type": "application/json" })
  if (words.includes("garbage")) return void response.end(Buffer.alloc(2_000, 0xfe))
  if (words.includes("dribble")) {
    const timer = setInterval(() => response.write(" "), 50)
    return void response.on("close", () => clearInterval(timer))
  }
  const chunk = Buffer.alloc(megabyte, 0x20)
  let left = 100
  const pour = () => {
    while (left > 0 && !response.destroyed) {
      left -= 1
      flooded(chunk.length)
      if (!response.write(chunk)) return
    }
    response.end()
  }
  response.on("drain", pour)
  pour()
}

const residentMegabytes = (pid: number | undefined) =>
  Effect.sync(() => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024)

describe("a provider that hangs, dribbles, floods or talks nonsense", () => {
  it.live(
    "harms only its own replies, and the program does not grow with what it sends",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        const program = yield* Gatehouse.serve(world.env)
        const { url } = program
        let poured = 0
        const faulty = yield* faultyProvider((request, response) => {
          let text = ""
          request.on("data", (bytes: Buffer) => (text += bytes.toString()))
          request.on("end", () => misbehave(response, text, (bytes) => (poured += bytes)))
        })
        const sound = yield* makeChannel(world, url)
        const { token } = sound
        const ill = yield* makeChannel(world, url, "ill")
        yield* call("PUT", `${url}/v1/accounts/${ill.id}/ai`, { token, body: { base_url: faulty, timeout_seconds: 2 } })
        yield* write(world, "anna", "shop", "Are you there?")
        yield* eventually(answered(world, "anna", 1), "a first reply")

        const before = yield* residentMegabytes(program.process.pid)
        const most = yield* Ref.make(before)
        yield* Effect.forkScoped(
          Effect.repeat(
            Effect.flatMap(residentMegabytes(program.process.pid), (now) =>
              Ref.update(most, (was) => Math.max(was, now))
            ),
            Schedule.spaced("50 millis")
          )
        )
        const kinds = ["hang", "dribble", "flood", "garbage"] as const
        for (const kind of kinds) {
          yield* Effect.forEach(Array.range(1, each), (nth) => write(world, `${kind}${nth}`, "ill", `please ${kind}`))
        }
        yield* write(world, "anna", "shop", "And still?")
        yield* eventually(answered(world, "anna", 2), "a reply beside the others")

        const logs: ReadonlyArray<any> = yield* eventually(
          Effect.map(
            call("GET", `${url}/v1/ai/logs?account_id=${ill.id}&status=failed&limit=100`, { token }),
            ({ body }) => (body.data.length === each * kinds.length ? body.data : undefined)
          ),
          "failed replies"
        )
        const reasons = logs.map(({ reason }) => String(reason))
        const timeouts = reasons.filter((reason) => reason.startsWith("timeout: "))
        const invalid = reasons.filter((reason) => reason.startsWith("invalid_response: "))
        assert.lengthOf([...timeouts, ...invalid], reasons.length)
        assert.isAtLeast(timeouts.length, 2 * each, "who hangs or dribbles")
        assert.isAtLeast(invalid.length, each, "who talks nonsense; who floods may take too long as well")
        assert.isBelow(poured, each * 20 * megabyte, "the connection is dropped long before the end")
        assert.isBelow((yield* most) - before, 120, "megabytes more at the most")
        deepStrictEqual(
          (yield* chatOf(world, "flood1")).map(({ from }) => from),
          ["flood1"]
        )
      }).pipe(Effect.scoped),
    240_000
  )
})

const answered = (world: Parameters<typeof chatOf>[0], person: string, times: number) =>
  Effect.map(chatOf(world, person), (items) =>
    items.filter(({ from }) => from === "shop").length === times ? true : undefined
  )
