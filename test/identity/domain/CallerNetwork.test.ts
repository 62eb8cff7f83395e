import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { callerNetwork } from "../../../src/identity/domain/CallerNetwork.ts"

const group = FastCheck.integer({ min: 1, max: 0xffff }).map((group) => group.toString(16))
const half = FastCheck.tuple(group, group, group, group).map((groups) => groups.join(":"))

describe("the network of a caller", () => {
  it.prop(
    "is an IPv4 address itself, mapped into IPv6 or not",
    [FastCheck.ipV4(), FastCheck.ipV4()],
    ([one, other]) => {
      assert.strictEqual(callerNetwork(one), one)
      assert.strictEqual(callerNetwork(`::ffff:${one}`), one)
      assert.strictEqual(callerNetwork(one) === callerNetwork(other), one === other)
    }
  )

  it.prop("is the first half of an IPv6 address", [half, half, half, half], ([net, otherNet, host, otherHost]) => {
    assert.strictEqual(callerNetwork(`${net}:${host}`), callerNetwork(`${net}:${otherHost}`.toUpperCase()))
    assert.strictEqual(callerNetwork(`${net}:${host}`) === callerNetwork(`${otherNet}:${host}`), net === otherNet)
  })

  it("is whatever else it is called", () => {
    assert.strictEqual(callerNetwork("unknown"), "unknown")
    assert.strictEqual(callerNetwork("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64")
  })
})
