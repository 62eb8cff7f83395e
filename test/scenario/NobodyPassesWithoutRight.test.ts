import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Schedule } from "effect"
import { Ability, reaches, Role } from "../../src/identity/domain/Ability.ts"
import { call } from "../support/Api.ts"
import { checksums, otherLetter, refused } from "../support/Doors.ts"
import { type Operation, operationsOf, requirementOf, validCalls } from "../support/Operations.ts"
import { made, person, prepare, type Prepared } from "../support/PreparedTenant.ts"
import { operatorToken } from "../support/Story.ts"
import { Program } from "../support/Team.ts"

const attempt = (
  operation: Operation,
  prepared: Prepared,
  token: string | undefined,
  status: number,
  who: string,
  { headers = {}, ids = {} }: { readonly ids?: Record<string, string>; readonly headers?: Record<string, string> } = {}
) => {
  const valid = validCalls[operation.id]?.(prepared) ?? {}
  return refused(operation, valid, { ...prepared.ids, ...ids }, { who, token, status, headers })
}

const operationsFor = (credential: string) =>
  Effect.gen(function* () {
    const { url } = yield* Program
    const { body } = yield* call("GET", `${url}/api/v1/openapi.json`)
    const found = operationsOf(body).filter((operation) => operation.credential === credential)
    assert.isNotEmpty(found)
    return found
  })

const channelToken = Effect.gen(function* () {
  const { url } = yield* Program
  const token = yield* operatorToken(url)
  const { body } = yield* call("POST", `${url}/v1/accounts`, { token, body: { name: "Shop", platform: "platform_b" } })
  return body.data.token as string
})

/** Tokens that were good once. */
const spentTokens = Effect.fn(function* (owner: string) {
  const { url } = yield* Program
  const revoked = yield* made(owner, "/auth/tokens", { name: "revoked" })
  yield* call("DELETE", `${url}/api/v1/auth/tokens/${revoked.uuid}`, { token: owner })
  const expires_at = new Date(Date.now() + 4_000).toISOString()
  const expired = yield* made(owner, "/auth/tokens", { name: "expired", expires_at })
  yield* Effect.repeat(call("GET", `${url}/api/v1/auth/me`, { token: expired.token }), {
    until: ({ status }) => status === 401,
    schedule: Schedule.spaced("100 millis")
  })
  return { revoked: revoked.token as string, expired: expired.token as string }
})

/** Anybody may take leave, but only an admin may take leave of another. */
const leastRole = (id: string): Role =>
  id === "members.removeMember" ? "admin" : (requirementOf.get(id)?.role ?? "viewer")

const tenantless = ["tenants.listTenants", "tenants.createTenant"]
const byHeader = ["apps.listApps", "apps.createApp", "bootstrap.bootstrap"]

layer(Program.layer, { excludeTestServices: true })("nobody passes without right", (it) => {
  it.effect(
    "by a token of the management API",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Program
        const prepared = yield* prepare
        const stranger = yield* person("stranger")
        const theirs = yield* made(stranger.token, "/apps", { name: "Theirs" })
        const credentials: Record<string, string | undefined> = {
          nobody: undefined,
          "an app": prepared.key,
          "an operator": yield* operatorToken(url),
          "a channel": yield* channelToken,
          garbage: "garbage",
          "a mistyped token": otherLetter(prepared.token),
          ...(yield* spentTokens(prepared.token))
        }
        const lacking: Record<string, string> = {}
        for (const needed of Ability.literals.filter((ability) => ability !== "*")) {
          const area = needed.split(":")[0]
          const abilities = Ability.literals.filter(
            (ability) =>
              ability !== "*" && (needed.endsWith(":read") ? !ability.startsWith(`${area}:`) : ability !== needed)
          )
          lacking[needed] = (yield* made(prepared.token, "/auth/tokens", { name: needed, abilities })).token
        }
        const before = yield* checksums
        for (const operation of yield* operationsFor("accessToken")) {
          const { id, parameters } = operation
          for (const [who, token] of Object.entries(credentials)) yield* attempt(operation, prepared, token, 401, who)
          const needed = requirementOf.get(id)?.ability
          if (needed !== undefined) yield* attempt(operation, prepared, lacking[needed], 403, `without ${needed}`)
          for (const role of ["viewer", "member", "admin"] as const) {
            if (reaches(role, leastRole(id))) continue
            const headers = { "x-tenant": prepared.ids.tenant }
            yield* attempt(operation, prepared, prepared[role].token, 403, role, { headers })
          }
          if (byHeader.includes(id)) {
            const headers = { "x-tenant": prepared.ids.tenant }
            yield* attempt(operation, prepared, stranger.token, 404, "a stranger by X-Tenant", { headers })
          }
          if (parameters.length > 0) yield* attempt(operation, prepared, stranger.token, 404, "a stranger")
          else assert.isTrue(byHeader.includes(id) || tenantless.includes(id) || id.startsWith("auth."), id)
          const records = parameters.filter((name) => name !== "platform")
          if (records.includes("app") && records.length > 1) {
            const ids = { app: theirs.uuid as string }
            yield* attempt(operation, prepared, stranger.token, 404, "a stranger under an own app", { ids })
          }
          if (id === "bootstrap.bootstrap")
            yield* attempt(operation, prepared, stranger.token, 404, "a stranger's body")
        }
        deepStrictEqual(yield* checksums, before)
      }),
    240_000
  )

  it.effect(
    "by a key of an app",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Program
        const prepared = yield* prepare
        const app = `${url}/api/v1/apps/${prepared.ids.app}`
        const operations = yield* operationsFor("appPublicKey")
        const rotated = yield* call("POST", `${app}/rotate-key`, { token: prepared.token })
        const key: string = rotated.body.data.public_api_key
        const credentials: Record<string, string | undefined> = {
          nobody: undefined,
          "a token": prepared.token,
          "an operator": yield* operatorToken(url),
          "a channel": yield* channelToken,
          garbage: "garbage",
          "the key before": prepared.key,
          "a mistyped key": otherLetter(key)
        }
        for (const status of ["paused", "archived"]) {
          yield* call("PATCH", app, { token: prepared.token, body: { status } })
          const before = yield* checksums
          for (const operation of operations) {
            for (const [who, token] of Object.entries(credentials)) yield* attempt(operation, prepared, token, 401, who)
            yield* attempt(operation, prepared, key, 403, `a ${status} app`)
          }
          const { webhook_attempts: _, webhook_deliveries: __, ...after } = yield* checksums
          const { webhook_attempts: ___, webhook_deliveries: ____, ...expected } = before
          deepStrictEqual(after, expected)
        }
      }),
    240_000
  )
})
