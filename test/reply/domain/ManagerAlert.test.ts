import { assert, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { DateTime, Duration, FastCheck, Option } from "effect"
import {
  alertText,
  decideAlert,
  handOffIn,
  handOffMark,
  keywordIn,
  type LastAlert,
  quietTime
} from "../../../src/reply/domain/ManagerAlert.ts"

const alerts = (...keywords: ReadonlyArray<string>) => ({ enabled: true, to: "pbuser:owner", keywords })

it.prop("the mark is found and never left in the text", [FastCheck.lorem(), FastCheck.lorem()], ([before, after]) => {
  const { isHandOff, text } = handOffIn(`${before} ${handOffMark} ${after}`)
  assert.isTrue(isHandOff)
  assert.notInclude(text, handOffMark)
  assert.isFalse(handOffIn(before).isHandOff)
  assert.strictEqual(handOffIn(before).text, before)
})

it("finds a keyword in any of the texts, whatever its case", () => {
  deepStrictEqual(keywordIn(alerts("order", "REFUND"), ["Hello", "a Refund, please"]), Option.some("REFUND"))
  deepStrictEqual(keywordIn(alerts("order"), ["Hello"]), Option.none())
  deepStrictEqual(keywordIn(alerts(), ["Hello"]), Option.none())
})

const said = FastCheck.string({ unit: "binary" })

it.prop("an alert fits in one message and cuts no character", [said, said, FastCheck.nat()], ([name, body, held]) => {
  const text = alertText("A person is asked for", `maria ${name.repeat(20)}`, [body.repeat(20)], held)
  assert.isAtMost(text.length, 1000)
  assert.include(text, "in the chat with maria")
  assert.notMatch(text, /\p{Surrogate}/u)
})

/** Occasions one after the other: the milliseconds since the one before, and who the manager is then. */
const occasions = FastCheck.array(
  FastCheck.record({
    after: FastCheck.oneof(
      FastCheck.nat(Duration.toMillis(quietTime) * 2),
      FastCheck.constantFrom(0, Duration.toMillis(quietTime) - 1, Duration.toMillis(quietTime))
    ),
    to: FastCheck.oneof({ weight: 9, arbitrary: FastCheck.constant("ann") }, FastCheck.constant("bea"))
  })
)

it.prop("whatever happens, each is told or held back, and counted", [occasions], ([all]) => {
  let now = 0
  let last = Option.none<LastAlert>()
  const told: Array<{ to: string; at: number }> = []
  let uncounted = 0
  for (const { after, to } of all) {
    now += after
    const hasChanged = !Option.exists(last, (alert) => alert.told === to)
    if (hasChanged) uncounted = 0
    const decided = decideAlert(last, to, DateTime.unsafeMake(now))
    const previous = told.at(-1)
    const isQuiet = !hasChanged && previous !== undefined && now - previous.at < Duration.toMillis(quietTime)
    assert.strictEqual(Option.isNone(decided.tells), isQuiet)
    if (Option.isSome(decided.tells)) {
      assert.strictEqual(decided.tells.value.heldBack, uncounted)
      uncounted = 0
      told.push({ to, at: now })
    } else uncounted += 1
    assert.strictEqual(decided.last.heldBack, uncounted)
    last = Option.some(decided.last)
  }
})

it("silences nobody for longer because a clock was set back", () => {
  const last = { told: "ann", toldAt: DateTime.unsafeMake("2026-03-01T12:00:00Z"), heldBack: 2 }
  const { tells } = decideAlert(Option.some(last), "ann", DateTime.unsafeMake("2026-03-01T09:00:00Z"))
  deepStrictEqual(tells, Option.some({ heldBack: 2 }))
})
