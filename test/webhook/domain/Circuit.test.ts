import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, FastCheck, Option } from "effect"
import * as Circuit from "../../../src/webhook/domain/Circuit.ts"

const at = (seconds: number) => DateTime.unsafeMake(seconds * 1000)
const times = (count: number, code: number) => Array.from({ length: count }, () => code)
const pause = (circuit: Circuit.Circuit, now: DateTime.Utc) =>
  Option.match(circuit.until, { onNone: () => 0, onSome: (until) => DateTime.distance(now, until) / 1000 })

const open = Circuit.judged(Circuit.closed, times(50, 500), at(0))

describe("a circuit", () => {
  it("opens at the 50th failure in a row", () => {
    const before = Circuit.judged(Circuit.closed, times(49, 0), at(0))
    assert.strictEqual(Circuit.stateAt(before, at(0)), "closed")
    assert.strictEqual(Circuit.stateAt(Circuit.judged(before, [503], at(0)), at(0)), "open")
    assert.strictEqual(Circuit.stateAt(Circuit.judged(before, [404, 500], at(0)), at(0)), "closed")
  })

  it("lets one try after 5 s, and waits twice as long each time that it fails, up to 5 min", () => {
    let circuit = open
    let now = 0
    const waits: Array<number> = []
    for (let nth = 0; nth < 9; nth++) {
      const wait = pause(circuit, at(now))
      waits.push(wait)
      assert.strictEqual(Circuit.stateAt(circuit, at(now + wait - 1)), "open")
      now += wait
      assert.strictEqual(Circuit.stateAt(circuit, at(now)), "half_open")
      circuit = Circuit.judged(circuit, [0], at(now))
    }
    assert.strictEqual(waits.join(), "5,10,20,40,80,160,300,300,300")
    assert.strictEqual(Circuit.judged(circuit, [200], at(now)), Circuit.closed)
  })

  it("is not moved by stragglers that fail, and closed by one that succeeds", () => {
    assert.strictEqual(Circuit.judged(open, times(31, 500), at(1)), open)
    assert.strictEqual(Circuit.judged(open, [500, 200], at(1)), Circuit.closed)
  })

  it.prop(
    "is closed after an answer, and never open for longer than 5 minutes",
    {
      codes: FastCheck.array(FastCheck.constantFrom(0, 200, 302, 404, 429, 500)),
      last: FastCheck.constantFrom(200, 404)
    },
    ({ codes, last }) => {
      const circuit = Circuit.judged(Circuit.closed, codes, at(0))
      assert.isAtMost(pause(circuit, at(0)), Duration.toSeconds("5 minutes"))
      assert.strictEqual(Circuit.judged(circuit, [last], at(0)), Circuit.closed)
    }
  )
})
