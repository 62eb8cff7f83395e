import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { isPublicAddress } from "../../../src/webhook/domain/PublicAddress.ts"
import { urlProblem } from "../../../src/webhook/domain/TargetUrl.ts"

const octet = FastCheck.integer({ min: 0, max: 255 })
const behind = (prefix: string, count: number) =>
  FastCheck.array(octet, { minLength: count, maxLength: count }).map((rest) => [prefix, ...rest].join("."))

const inside = FastCheck.oneof(
  behind("0", 3),
  behind("10", 3),
  behind("127", 3),
  behind("169.254", 2),
  behind("192.168", 2),
  behind("192.0.2", 1),
  behind("198.51.100", 1),
  behind("203.0.113", 1),
  FastCheck.tuple(FastCheck.integer({ min: 64, max: 127 }), octet).map(([a, b]) => `100.${a}.${b}.1`),
  FastCheck.tuple(FastCheck.integer({ min: 16, max: 31 }), octet).map(([a, b]) => `172.${a}.${b}.1`),
  FastCheck.tuple(FastCheck.integer({ min: 18, max: 19 }), octet).map(([a, b]) => `198.${a}.${b}.1`),
  FastCheck.tuple(FastCheck.integer({ min: 224, max: 255 }), octet, octet).map(([a, b, c]) => `${a}.${b}.${c}.1`)
)
const outside = FastCheck.tuple(FastCheck.constantFrom(1, 8, 9, 34, 52, 93, 104, 185, 216), octet, octet, octet).map(
  (octets) => octets.join(".")
)
const hex = (address: string) => {
  const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number)
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}

describe("PublicAddress", () => {
  it.prop("no reserved IPv4 range is public, in no form that carries one", [inside], ([address]) => {
    for (const form of [
      address,
      `::ffff:${address}`,
      `[::ffff:${address}]`,
      `::ffff:${hex(address)}`,
      `::${hex(address)}`,
      `64:ff9b::${hex(address)}`,
      `64:ff9b:1::${hex(address)}`,
      `2002:${hex(address)}::1`
    ]) {
      assert.isFalse(isPublicAddress(form), form)
    }
  })

  it.prop("an ordinary address is public, mapped too", [outside], ([address]) => {
    assert.isTrue(isPublicAddress(address))
    assert.isTrue(isPublicAddress(`::ffff:${address}`))
  })

  it.each([
    "::",
    "::1",
    "[::1]",
    "::7f00:1",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fd00:ec2::254",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
    "3fff::1",
    "5f00::1",
    "100::1",
    "100:0:0:1::1",
    "2001::1",
    "64:ff9b::a9fe:a9fe",
    "168.63.129.16",
    "::ffff:168.63.129.16",
    "192.88.99.1",
    "192.0.0.192",
    "100.100.100.200",
    "255.255.255.255",
    "127.1",
    "0x7f.1",
    "2130706433",
    "017700000001",
    "",
    "localhost",
    "example.com",
    "1.2.3.4.5",
    "8.8.8.8/8"
  ])("%j is not public", (address) => assert.isFalse(isPublicAddress(address)))

  it.each(["8.8.8.8", "1.1.1.1", "168.63.129.17", "2606:4700:4700::1111", "[2001:4860:4860::8888]"])(
    "%j is public",
    (address) => assert.isTrue(isPublicAddress(address))
  )
})

describe("TargetUrl", () => {
  it.prop(
    "a web URL is fine",
    [FastCheck.webUrl({ withQueryParameters: true, validSchemes: ["http", "https"] })],
    ([url]) => {
      assert.isNull(urlProblem(url))
    }
  )

  it.prop(
    "credentials are refused",
    [FastCheck.webUrl({ validSchemes: ["https"] }), FastCheck.stringMatching(/^[a-z]{1,5}$/), FastCheck.boolean()],
    ([url, name, hasPassword]) => {
      const userinfo = hasPassword ? `${name}:${name}@` : `${name}@`
      assert.strictEqual(urlProblem(url.replace("https://", `https://${userinfo}`)), "must not contain credentials")
    }
  )

  it.each(["ftp://example.com", "file:///etc/passwd", "javascript:alert(1)", "ws://example.com", "data:,x"])(
    "%j is no web URL",
    (url) => assert.strictEqual(urlProblem(url), "must be an http or https URL")
  )

  it.each(["", "example.com", "/hook", "https://", "http://[::1", "http://exa mple.com"])("%j is no URL", (url) =>
    assert.strictEqual(urlProblem(url), "must be a URL")
  )

  it("has at most 2048 characters", () => {
    const base = "https://example.com/"
    assert.isNull(urlProblem(base.padEnd(2048, "x")))
    assert.strictEqual(urlProblem(base.padEnd(2049, "x")), "must have at most 2048 characters")
  })
})
