import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Record } from "effect"
import { SignJWT, UnsecuredJWT } from "jose"
import { call } from "../support/Api.ts"
import { checksums, otherLetter, refused } from "../support/Doors.ts"
import { gatewayCalls, prepareChannel, type PreparedChannel, readBy } from "../support/GatewayOperations.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { type Operation, operationsOf } from "../support/Operations.ts"
import { prepare } from "../support/PreparedTenant.ts"
import { operatorToken } from "../support/Story.ts"
import { Program } from "../support/Team.ts"

const operations = Effect.gen(function* () {
  const { url } = yield* Program
  return operationsOf((yield* call("GET", `${url}/v1/openapi.json`)).body)
})

const claimsOf = (token: string): Record<string, string> =>
  JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString())

/** Operator tokens that are like good ones but for one thing. */
const almostOperators = Effect.gen(function* () {
  const { url } = yield* Program
  const spent = yield* operatorToken(url)
  yield* call("POST", `${url}/v1/auth/logout`, { token: spent })
  const { jti = "", sub = "" } = claimsOf(yield* operatorToken(url))
  const secret = new TextEncoder().encode(Gatehouse.secrets.ADMIN_JWT_SECRET)
  const signed = (expires: string, audience: string, issuer: string, key: Uint8Array, subject = sub) =>
    Effect.promise(() =>
      new SignJWT()
        .setProtectedHeader({ alg: "HS256", typ: "JWT" })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(subject)
        .setJti(jti)
        .setIssuedAt("-1 day")
        .setExpirationTime(expires)
        .sign(key)
    )
  const unsigned = new UnsecuredJWT().setIssuer("gatehouse").setAudience("gateway").setSubject(sub).setJti(jti)
  const good = yield* signed("1 hour", "gateway", "gatehouse", secret)
  assert.strictEqual((yield* call("GET", `${url}/v1/accounts`, { token: good })).status, 200)
  return {
    "an operator who has left": spent,
    "an expired operator": yield* signed("-1 minute", "gateway", "gatehouse", secret),
    "an operator of something else": yield* signed("1 hour", "other", "gatehouse", secret),
    "an operator of another issuer": yield* signed("1 hour", "gateway", "other", secret),
    "nobody's operator": yield* signed("1 hour", "gateway", "gatehouse", secret, crypto.randomUUID()),
    "a forger": yield* signed("1 hour", "gateway", "gatehouse", new TextEncoder().encode("x".repeat(32))),
    "an unsigned token": unsigned.setExpirationTime("1 hour").encode(),
    "a changed token": `${good.slice(0, -4)}${good.endsWith("AAAA") ? "BBBB" : "AAAA"}`
  }
})

const attempt = (
  operation: Operation,
  prepared: PreparedChannel,
  who: string,
  token: string | undefined,
  status: number,
  ids: Readonly<Record<string, string>> = {}
) =>
  refused(operation, gatewayCalls[operation.id]?.(prepared) ?? {}, { ...prepared.ids, ...ids }, { who, token, status })

layer(Program.layer, { excludeTestServices: true })("nobody passes the gateway", (it) => {
  it.effect("as every operation of it has a valid call in the tests, and no call is for none", () =>
    Effect.gen(function* () {
      const ids = (yield* operations).map(({ id }) => id)
      deepStrictEqual(ids.toSorted(), Object.keys(gatewayCalls).toSorted())
    })
  )

  it.effect(
    "without a credential of the right kind that is still good",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Program
        const tenant = yield* prepare
        const shop = yield* prepareChannel("shop")
        const operator = yield* operatorToken(url)
        const gone = yield* call("POST", `${url}/v1/accounts`, {
          token: operator,
          body: { name: "Gone", platform: "platform_b" }
        })
        yield* call("DELETE", `${url}/v1/accounts/${gone.body.data.id}`, { token: operator })
        const strangers: Record<string, string | undefined> = {
          nobody: undefined,
          "an app": tenant.key,
          "a token of the management API": tenant.token,
          garbage: "garbage",
          ...(yield* almostOperators)
        }
        const wrong: Record<string, Record<string, string>> = {
          operatorToken: { "a channel": shop.channelToken, "a changed operator": `${operator}A` },
          channelToken: {
            "an operator": operator,
            "a channel that is gone": gone.body.data.token,
            "a mistyped channel": otherLetter(shop.channelToken)
          }
        }
        const before = yield* checksums
        const read = yield* readBy(shop)
        for (const operation of yield* operations) {
          if (operation.credential === undefined) continue
          const credentials = { ...strangers, ...wrong[operation.credential] }
          assert.isTrue(Record.has(wrong, operation.credential), operation.id)
          for (const [who, token] of Object.entries(credentials)) yield* attempt(operation, shop, who, token, 401)
        }
        deepStrictEqual(yield* checksums, before)
        deepStrictEqual(yield* readBy(shop), read)
      }),
    240_000
  )

  it.effect(
    "to records that are no such records, or another's",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Program
        const tenant = yield* prepare
        const shop = yield* prepareChannel("bakery")
        const other = yield* prepareChannel("florist")
        const operator = yield* operatorToken(url)
        const before = yield* checksums
        const read = yield* readBy(other)
        for (const operation of yield* operations) {
          const { credential, parameters } = operation
          if (credential === "channelToken") {
            const status = operation.id === "messages.sendText" ? 409 : 404
            yield* attempt(operation, other, "another channel", shop.channelToken, status)
            continue
          }
          if (credential === undefined || parameters.length === 0) continue
          const unknown = Object.fromEntries(parameters.map((name) => [name, crypto.randomUUID()]))
          yield* attempt(operation, shop, "an operator, nothing", operator, 404, unknown)
          const odd = Object.fromEntries(parameters.map((name) => [name, "no such thing"]))
          yield* attempt(operation, shop, "an operator, no id", operator, 404, odd)
          if (parameters.includes("chat")) {
            const ids = { chat: other.ids.chat }
            yield* attempt(operation, shop, "an operator, a chat of another channel", operator, 404, ids)
          }
          if (parameters.includes("webhook") || parameters.includes("delivery")) {
            const ids = { webhook: tenant.ids.webhook, delivery: tenant.ids.delivery }
            yield* attempt(operation, shop, "an operator, an app's webhook", operator, 404, ids)
          }
        }
        deepStrictEqual(yield* checksums, before)
        deepStrictEqual(yield* readBy(other), read)
      }),
    240_000
  )
})
