import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Lookup, TargetPolicy } from "../../src/webhook/TargetGuard.ts"
import { authority, type Certificate } from "../support/Certificates.ts"
import { rawTarget } from "../support/RawTarget.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { until } from "../support/Until.ts"
import * as WebhookReceiver from "../support/WebhookReceiver.ts"
import { assertSucceeded, assertWaits, besideAHealthyOne, wasTried } from "./Beside.ts"
import { engine, history, newOwner, publish, register } from "./Engine.ts"

const addresses = (...literals: ReadonlyArray<string>) => literals.map((address) => ({ address, family: 4 }))

/** A name server that says these one after the other, the last for ever. */
const saying = (...answers: ReadonlyArray<string | null>): Lookup => {
  let asked = 0
  return (_name, _options, callback) => {
    const answer = answers[Math.min(asked++, answers.length - 1)]
    if (typeof answer === "string") return callback(null, addresses(answer))
    callback(Object.assign(new Error("no such name"), { code: "ENOTFOUND" }), [])
  }
}

const named = (policy: TargetPolicy, port: number, timeoutSeconds = 10) =>
  Effect.gen(function* () {
    const owner = yield* newOwner()
    yield* register(owner, `http://target.example:${port}/`, { timeoutSeconds })
    yield* publish(owner)
    const [delivery] = yield* until(history(owner), ([first]) => first !== undefined && wasTried(first))
    return delivery ?? assert.fail()
  }).pipe(Effect.provide(engine(policy)), Effect.scoped)

layer(TestDatabase.layer, { excludeTestServices: true })("a target whose name", (it) => {
  it.scoped("leads nowhere is tried again", () =>
    Effect.gen(function* () {
      assertWaits(yield* named({ allowPrivate: false, lookup: saying(null) }, 80), 0, /ENOTFOUND/)
    })
  )

  it.scoped("leads inside is not registered", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(register(yield* newOwner(), "http://target.example/"))
      assert.match(String(refused.reason), /private, loopback or reserved/)
    }).pipe(Effect.provide(engine({ allowPrivate: false, lookup: saying("10.0.0.1") })))
  )

  it.scoped("leads inside after it was registered is not connected to", () =>
    Effect.gen(function* () {
      const inside = yield* WebhookReceiver.make()
      const lookup = saying("93.184.216.34", "127.0.0.1")
      assertWaits(yield* named({ allowPrivate: false, lookup }, inside.port), 0, /not public/)
      assert.strictEqual(inside.ledger.length, 0)
    })
  )

  it.scoped("leads inside the second time that it is asked for one attempt is not connected to", () =>
    Effect.gen(function* () {
      const inside = yield* WebhookReceiver.make()
      const lookup = saying("93.184.216.34", "192.0.2.1", "127.0.0.1")
      assertWaits(yield* named({ allowPrivate: false, lookup }, inside.port, 1), 0, /not public|time-out/)
      assert.strictEqual(inside.ledger.length, 0)
    })
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a target whose certificate", (it) => {
  const answering = (certificate: Certificate, before = "") =>
    Effect.map(
      rawTarget((socket) => void socket.write(`${before}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`), certificate),
      (target) => ({ ...target, url: `https://localhost:${target.port}/` })
    )
  const valid = { from: -1, to: 1 }

  it.scoped("is right has the event", () =>
    Effect.gen(function* () {
      const { issue, root } = yield* authority
      const target = yield* answering(yield* issue("localhost", valid))
      const policy = { allowPrivate: true, roots: [root] }
      assertSucceeded(yield* besideAHealthyOne(target, { policy }), 200)
    })
  )

  it.scoped("is right has the event though it says 100 Continue first", () =>
    Effect.gen(function* () {
      const { issue, root } = yield* authority
      const target = yield* answering(yield* issue("localhost", valid), "HTTP/1.1 100 Continue\r\n\r\n")
      assertSucceeded(yield* besideAHealthyOne(target, { policy: { allowPrivate: true, roots: [root] } }), 200)
      assert.strictEqual(target.requests(), 2)
    })
  )

  it.scoped.each<readonly [string, string, { readonly from: number; readonly to: number }, RegExp]>([
    ["has another name", "other.example", valid, /ALTNAME/],
    ["has expired", "localhost", { from: -3, to: -1 }, /EXPIRED/]
  ])("%s is told nothing", ([, name, days, error]) =>
    Effect.gen(function* () {
      const { issue, root } = yield* authority
      const target = yield* answering(yield* issue(name, days))
      const policy = { allowPrivate: true, roots: [root] }
      assertWaits(yield* besideAHealthyOne(target, { policy }), 0, error)
      assert.strictEqual(target.requests(), 0)
    })
  )

  it.scoped("is its own issuer's is told nothing", () =>
    Effect.gen(function* () {
      const { root, selfSigned } = yield* authority
      const target = yield* answering(yield* selfSigned("localhost"))
      const policy = { allowPrivate: true, roots: [root] }
      assertWaits(yield* besideAHealthyOne(target, { policy }), 0, /SELF_SIGNED/)
      assert.strictEqual(target.requests(), 0)
    })
  )
})
