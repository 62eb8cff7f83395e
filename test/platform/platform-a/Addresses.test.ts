import { assert, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { FastCheck } from "effect"
import { canonical, isAddress, personOf, sentId } from "../../../src/platform/platform-a/Addresses.ts"

const digits = FastCheck.stringMatching(/^[1-9]\d{6,14}$/)
const device = FastCheck.integer({ min: 0, max: 99 })

it.prop("a device is a person's, however it is written", [digits, device], ([phone, number]) => {
  for (const server of ["s.whatsapp.net", "lid"]) {
    const person = `${phone}@${server}`
    assert.strictEqual(personOf(`${phone}:${number}@${server}`), person)
    assert.strictEqual(personOf(person), person)
    assert.isTrue(isAddress(person))
  }
})

it.prop("a number goes before an alias, in whatever order they come", [digits, digits], ([phone, alias]) => {
  const number = `${phone}@s.whatsapp.net`
  const hidden = `${alias}:3@lid`
  for (const names of [
    [number, hidden],
    [hidden, number]
  ]) {
    deepStrictEqual(canonical(names), { name: number, aliases: [`${alias}@lid`] })
  }
  deepStrictEqual(canonical([hidden, undefined]), { name: `${alias}@lid`, aliases: [] })
})

it.prop(
  "one message has one id on the platform, and no other has it",
  [FastCheck.uuid(), FastCheck.uuid()],
  ([a, b]) => {
    assert.match(sentId(a), /^3EB0[0-9A-F]{18}$/)
    assert.strictEqual(sentId(a), sentId(a))
    assert.strictEqual(sentId(a) === sentId(b), a === b)
  }
)

it("status updates and newsletters are no addresses", () => {
  for (const address of ["status@broadcast", "1203630@newsletter", "x@s.whatsapp.net", "49170@example.com", ""]) {
    assert.isFalse(isAddress(address))
  }
})
