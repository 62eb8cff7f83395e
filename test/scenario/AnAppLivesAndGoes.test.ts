import { assert, describe, it } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { Client } from "pg"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { buy, eventually, makeApp, makeWorld } from "../support/Story.ts"
import { fieldsOf, Program, registered, subscription } from "../support/Registered.ts"

const user = "0d2f7a4e-7c1b-4a9e-8f0a-944455556666"

const story = Effect.gen(function* () {
  const world = yield* makeWorld
  const { url } = yield* Gatehouse.serve(world.env)
  const team = yield* makeApp(url, world.receiver.url)
  const api = (method: string, path: string, body?: unknown, token = team.token) =>
    call(method, `${url}/api/v1${path}`, { token, body })
  return { world, url, team, api }
})

describe("an app lives and goes", () => {
  it.live(
    "a rotated key stops at once and is told to the team's webhooks",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { api, team, world } = yield* story
          const rotated = yield* api("POST", `/apps/${team.id}/rotate-key`)
          const key: string = rotated.body.data.public_api_key
          assert.match(key, /^app_pk_[0-9A-Za-z]{32}$/)
          strictEqual((yield* api("GET", "/client/offerings", undefined, team.key)).status, 401)
          strictEqual((yield* api("GET", "/client/offerings", undefined, key)).status, 200)
          const told = yield* eventually(
            Effect.sync(() => world.receiver.ledger.find(({ event }) => event === "app.key_rotated")),
            "app.key_rotated"
          )
          deepStrictEqual(told.data.data["app_user_id"], null)
          const events = yield* api("GET", `/apps/${team.id}/events?type=app.key_rotated`)
          strictEqual(events.body.data.length, 1)
          deepStrictEqual(told.data.data, events.body.data[0])
          const [changed, again] = yield* Effect.all(
            [api("PATCH", `/apps/${team.id}`, { name: "Renamed" }), api("POST", `/apps/${team.id}/rotate-key`)],
            { concurrency: 2 }
          )
          strictEqual(changed.status, 200)
          const shown = yield* api("GET", `/apps/${team.id}`)
          strictEqual(shown.body.data.name, "Renamed")
          strictEqual(shown.body.data.slug, "notes")
          strictEqual(shown.body.data.public_api_key, again.body.data.public_api_key)
        })
      ),
    240_000
  )

  it.live(
    "paused it refuses clients and records notifications, archived it is hidden and knows neither",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { api, team, url, world } = yield* story
          const become = (status: string) => api("PATCH", `/apps/${team.id}`, { status })
          const client = (path: string) => Effect.map(api("GET", path, undefined, team.key), ({ status }) => status)
          strictEqual((yield* become("paused")).body.data.status, "paused")
          strictEqual(yield* client("/client/offerings"), 403)
          strictEqual(yield* client(`/client/subscribers/${user}`), 403)
          strictEqual((yield* buy(world, url, team.id)).body.receiver.status, 200)
          strictEqual((yield* api("GET", `/apps/${team.id}/subscriptions`)).body.data.length, 1)
          strictEqual((yield* api("GET", "/apps")).body.data.length, 1)
          strictEqual((yield* become("archived")).body.data.status, "archived")
          strictEqual(yield* client("/client/offerings"), 403)
          strictEqual((yield* buy(world, url, team.id)).body.receiver.status, 404)
          strictEqual((yield* api("GET", "/apps")).body.data.length, 0)
          strictEqual((yield* api("GET", "/apps?status=archived")).body.data.length, 1)
          strictEqual((yield* api("GET", `/apps/${team.id}`)).status, 200)
          strictEqual((yield* become("active")).body.data.status, "active")
          strictEqual(yield* client("/client/offerings"), 200)
          deepStrictEqual(fieldsOf(yield* become("gone")), ["status"])
          deepStrictEqual(fieldsOf(yield* api("GET", "/apps?status=gone")), ["status"])
        })
      ),
    240_000
  )

  it.live(
    "what was bought keeps its identifiers, and outlives its product",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { api, team, url, world } = yield* story
          yield* buy(world, url, team.id)
          const product = (yield* api("GET", `/apps/${team.id}/products`)).body.data[0]
          const entitlement = (yield* api("GET", `/apps/${team.id}/entitlements`)).body.data[0]
          const renamed = yield* api("PATCH", `/products/${product.uuid}`, { identifier: "other" })
          strictEqual(renamed.status, 409)
          deepStrictEqual(fieldsOf(renamed), ["identifier"])
          strictEqual((yield* api("PATCH", `/entitlements/${entitlement.uuid}`, { identifier: "x" })).status, 409)
          strictEqual((yield* api("PATCH", `/products/${product.uuid}`, { name: "New" })).body.data.name, "New")
          const same = yield* api("PATCH", `/products/${product.uuid}`, { identifier: product.identifier })
          strictEqual(same.status, 200)
          const twin = yield* api(
            "POST",
            `/apps/${team.id}/products`,
            subscription("pro.monthly", { store: "store_b" })
          )
          const other = yield* api("PATCH", `/products/${twin.body.data.uuid}`, { identifier: "pro:monthly" })
          strictEqual(other.body.data.identifier, "pro:monthly")
          strictEqual((yield* api("DELETE", `/products/${product.uuid}`)).status, 200)
          strictEqual((yield* api("GET", `/apps/${team.id}/transactions`)).body.data.length, 1)
          const subscriptions = yield* api("GET", `/apps/${team.id}/subscriptions`)
          strictEqual(subscriptions.body.data[0].product_identifier, "pro.monthly")
          const subscriber = yield* api("GET", `/client/subscribers/${user}`, undefined, team.key)
          deepStrictEqual(subscriber.body.subscriber.entitlements, {})
          assert.property(subscriber.body.subscriber.subscriptions, "pro.monthly")
        })
      ),
    240_000
  )

  it.live(
    "with customers it goes only by its slug, with everything in it, and tells nobody any more",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { api, team, url, world } = yield* story
          const untold = yield* call("POST", `${url}/api/v1/apps/${team.id}/webhooks`, {
            token: team.token,
            body: { url: "http://127.0.0.1:1/nobody" }
          })
          strictEqual(untold.status, 201)
          yield* buy(world, url, team.id)
          for (const query of ["", "?confirm=", "?confirm=other", `?confirm=${team.id}`]) {
            const refused = yield* api("DELETE", `/apps/${team.id}${query}`)
            strictEqual(refused.status, 409, query)
            deepStrictEqual(fieldsOf(refused), ["confirm"])
          }
          const weak = yield* api("POST", "/auth/tokens", { name: "w", abilities: ["apps:read", "catalog:write"] })
          const path = `/apps/${team.id}?confirm=notes`
          strictEqual((yield* api("DELETE", path, undefined, weak.body.data.token)).status, 403)
          strictEqual((yield* api("GET", `/apps/${team.id}/webhooks`)).body.data.length, 2)
          const gone = yield* api("DELETE", path)
          deepStrictEqual(gone.body, { data: { uuid: team.id, deleted: true } })
          strictEqual((yield* api("GET", `/apps/${team.id}`)).status, 404)
          strictEqual((yield* api("DELETE", path)).status, 404)
          strictEqual((yield* api("GET", `/client/subscribers/${user}`, undefined, team.key)).status, 401)
          strictEqual((yield* buy(world, url, team.id)).body.receiver.status, 404)
          const left = yield* Effect.promise(async () => {
            const client = new Client({ connectionString: world.databaseUrl })
            await client.connect()
            const endpoints = await client.query("SELECT 1 FROM webhook_endpoints")
            const open = await client.query("SELECT 1 FROM webhook_deliveries WHERE due_at IS NOT NULL")
            const canceled = await client.query("SELECT 1 FROM webhook_deliveries WHERE state = 'canceled'")
            const customers = await client.query("SELECT 1 FROM customers")
            await client.end()
            return [endpoints, open, customers, canceled].map(({ rows }) => rows.length)
          })
          deepStrictEqual(left.slice(0, 3), [0, 0, 0])
          assertTrue((left[3] ?? 0) >= 1)
          const again = yield* api("POST", "/apps", { name: "Notes" })
          strictEqual(again.body.data.slug, "notes")
          strictEqual((yield* api("DELETE", `/apps/${again.body.data.uuid}?confirm=other`)).status, 409)
          strictEqual((yield* api("DELETE", `/apps/${again.body.data.uuid}`)).status, 200)
        })
      ),
    240_000
  )

  it.live(
    "slugs are unique within the workspace, also for many made at once, and all failing fields are told",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { api } = yield* registered
          const made = yield* Effect.forEach(
            Array.from({ length: 8 }, (_, index) => index),
            () => api("POST", "/apps", { name: "Notes" }),
            { concurrency: 8 }
          )
          const slugs = made.map(({ body }): string => body.data.slug).toSorted()
          deepStrictEqual(slugs, ["notes", ...Array.from({ length: 7 }, (_, index) => `notes-${index + 2}`)])
          const stranger = yield* registered
          const other = yield* stranger.api("POST", "/apps", { name: "Notes" })
          strictEqual(other.body.data.slug, "notes")
          strictEqual((yield* stranger.api("DELETE", `/apps/${made[0]?.body.data.uuid}`)).status, 404)
          const wrong = { name: "", bundle_id: "no spaces", package_name: 7, platforms: ["store_a", "store_z"] }
          deepStrictEqual(fieldsOf(yield* api("POST", "/apps", wrong)), [
            "bundle_id",
            "name",
            "package_name",
            "platforms.1"
          ])
          const path = `/apps/${other.body.data.uuid}`
          const full = yield* stranger.api("PATCH", path, {
            bundle_id: "a.b",
            package_name: "c.d",
            platforms: ["custom"]
          })
          const kept = yield* stranger.api("PATCH", path, { bundle_id: null })
          strictEqual(kept.body.data.bundle_id, null)
          strictEqual(kept.body.data.package_name, "c.d")
          deepStrictEqual(kept.body.data.platforms, full.body.data.platforms)
        }).pipe(Effect.provide(Program.layer))
      ),
    240_000
  )

  it.live(
    "a viewer reads it, a member changes it, only an admin deletes it",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const owner = yield* registered
          const app = (yield* owner.api("POST", "/apps", { name: "Notes" })).body.data.uuid
          const product = (yield* owner.api("POST", `/apps/${app}/products`, subscription("a"))).body.data.uuid
          const guest = yield* registered
          const members = `/tenants/${owner.tenant}/members`
          const become = (role: string) => owner.api("PATCH", `${members}/${guest.user}`, { role })
          const tries = Effect.forEach(
            [
              guest.api("GET", `/products/${product}`),
              guest.api("PATCH", `/products/${product}`, { name: "B" }),
              guest.api("PATCH", `/apps/${app}`, { name: "B" }),
              guest.api("DELETE", `/apps/${app}`)
            ],
            Effect.map(({ status }) => status)
          )
          deepStrictEqual(yield* tries, [404, 404, 404, 404])
          yield* owner.api("POST", members, { email: guest.email, role: "viewer" })
          deepStrictEqual(yield* tries, [200, 403, 403, 403])
          yield* become("member")
          deepStrictEqual(yield* tries, [200, 200, 200, 403])
          yield* become("admin")
          deepStrictEqual(yield* tries, [200, 200, 200, 200])
        }).pipe(Effect.provide(Program.layer))
      ),
    240_000
  )
})
