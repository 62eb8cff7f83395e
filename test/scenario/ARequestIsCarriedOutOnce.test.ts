import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array, Context, Effect, Layer } from "effect"
import { Client } from "pg"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { eventually, makeChannel, makeWorld, type World, chatOf, write } from "../support/Story.ts"

class Started extends Context.Tag("test/Started")<
  Started,
  { readonly world: World; readonly gatehouse: Gatehouse.Gatehouse }
>() {}

const started = Layer.scoped(
  Started,
  Effect.gen(function* () {
    const world = yield* makeWorld
    return { world, gatehouse: yield* Gatehouse.serve(world.env) }
  })
).pipe(Layer.orDie)

const register = (url: string, headers: Record<string, string> = {}, email = `ann${crypto.randomUUID()}@example.com`) =>
  call("POST", `${url}/api/v1/auth/register`, {
    headers,
    body: { name: "Ann", email, password: "eight characters" }
  })

const query = (world: World, text: string, values: ReadonlyArray<unknown> = []) =>
  Effect.promise(async () => {
    const client = new Client({ connectionString: world.databaseUrl })
    await client.connect()
    const { rows } = await client.query(text, [...values])
    await client.end()
    return rows
  })

const keyed = (key: string) => ({ "idempotency-key": key })

layer(started, { excludeTestServices: true })("a request with an Idempotency-Key", (it) => {
  it.effect("makes one record, and gives the first answer to every repeat", () =>
    Effect.gen(function* () {
      const { gatehouse } = yield* Started
      const apps = `${gatehouse.url}/api/v1/apps`
      const token: string = (yield* register(gatehouse.url)).body.data.token
      const create = (name: string, key: string) =>
        call("POST", apps, { token, headers: keyed(key), body: { name, bundle_id: "com.example.notes" } })

      const answers = yield* Effect.all(
        Array.makeBy(8, () => create("Notes", "one")),
        { concurrency: 8 }
      )
      deepStrictEqual(
        answers.map(({ status }) => status),
        Array.replicate(201, 8)
      )
      assert.strictEqual(new Set(answers.map(({ body }) => JSON.stringify(body))).size, 1)
      const replays = answers.filter(({ headers }) => headers.get("idempotency-replayed") === "true")
      assert.strictEqual(replays.length, 7)
      assert.strictEqual((yield* call("GET", apps, { token })).body.data.length, 1)

      const other = yield* create("Another", "one")
      assert.strictEqual(other.status, 409)
      const elsewhere = yield* call("POST", `${gatehouse.url}/api/v1/auth/tokens`, {
        token,
        headers: keyed("one"),
        body: { name: "Notes", bundle_id: "com.example.notes" }
      })
      assert.strictEqual(elsewhere.status, 409)
      assert.strictEqual((yield* create("Notes", "two")).status, 201)
      assert.strictEqual((yield* call("GET", apps, { token })).body.data.length, 2)
    })
  )

  it.effect("keeps no refusal: what is put right goes through under the same key", () =>
    Effect.gen(function* () {
      const { gatehouse } = yield* Started
      const token: string = (yield* register(gatehouse.url)).body.data.token
      const create = (body: object) =>
        call("POST", `${gatehouse.url}/api/v1/apps`, { token, headers: keyed("k"), body })
      assert.strictEqual((yield* create({})).status, 422)
      assert.strictEqual((yield* create({ name: "Notes" })).status, 201)
    })
  )

  it.effect("is the caller's own, ends with the credential, and must be a key", () =>
    Effect.gen(function* () {
      const { gatehouse } = yield* Started
      const create = (token: string, key: string) =>
        call("POST", `${gatehouse.url}/api/v1/apps`, { token, headers: keyed(key), body: { name: "Notes" } })
      const [one, other]: [string, string] = [
        (yield* register(gatehouse.url)).body.data.token,
        (yield* register(gatehouse.url)).body.data.token
      ]
      const first = yield* create(one, "k")
      const second = yield* create(other, "k")
      assert.notStrictEqual(first.body.data.uuid, second.body.data.uuid)
      yield* call("POST", `${gatehouse.url}/api/v1/auth/logout`, { token: one })
      assert.strictEqual((yield* create(one, "k")).status, 401)
      const long = yield* create(other, "x".repeat(256))
      assert.strictEqual(long.status, 422)
      deepStrictEqual(Object.keys(long.body.errors), ["Idempotency-Key"])
    })
  )

  it.effect("covers what waits for the outside, and seals the answers that it keeps", () =>
    Effect.gen(function* () {
      const { gatehouse, world } = yield* Started
      const email = `eve${crypto.randomUUID()}@example.com`
      const registered = yield* Effect.all(
        Array.makeBy(4, () => register(gatehouse.url, keyed("same"), email)),
        { concurrency: 4 }
      )
      assert.strictEqual(new Set(registered.map(({ body }) => body.data.token)).size, 1)
      const token: string = registered[0]?.body.data.token
      const app = yield* call("POST", `${gatehouse.url}/api/v1/apps`, { token, body: { name: "Notes" } })
      const hooks = `${gatehouse.url}/api/v1/apps/${app.body.data.uuid}/webhooks`
      const hook = () => call("POST", hooks, { token, headers: keyed("hook"), body: { url: world.receiver.url } })
      const made = yield* Effect.all([hook(), hook(), hook()], { concurrency: 3 })
      const secrets = new Set(made.map(({ body }): string => body.data.secret))
      assert.strictEqual(secrets.size, 1)
      assert.strictEqual((yield* call("GET", hooks, { token })).body.data.length, 1)
      const rows = yield* query(world, "SELECT * FROM idempotency_keys")
      assert.isAbove(rows.length, 0)
      for (const secret of [...secrets, token]) assert.notInclude(JSON.stringify(rows), secret)
    })
  )

  it.effect("sends one message, also when the first request was cut off before its answer was kept", () =>
    Effect.gen(function* () {
      const { gatehouse, world } = yield* Started
      const channel = yield* makeChannel(world, gatehouse.url)
      yield* write(world, "maria", "shop", "hello")
      const threads = yield* eventually(
        Effect.map(
          call("GET", `${gatehouse.url}/v1/accounts/${channel.id}/chats`, { token: channel.token }),
          ({ body }) => (body.data.length > 0 ? body.data : undefined)
        ),
        "chat"
      )
      const send = () =>
        call("POST", `${gatehouse.url}/v1/messages/text`, {
          token: channel.channelToken,
          headers: keyed("m1"),
          body: { to: threads[0].chat_id, body: "written once" }
        })
      const answers = yield* Effect.all([send(), send(), send()], { concurrency: 3 })
      const ids = new Set(answers.map(({ body }): string => body.data.message_id))
      assert.strictEqual(ids.size, 1)
      yield* query(
        world,
        "UPDATE idempotency_keys SET answer_sealed = NULL, leased_until = now() - interval '1 second' WHERE key = 'm1'"
      )
      assert.isTrue(ids.has((yield* send()).body.data.message_id))
      yield* Effect.sleep("2 seconds")
      const written = (yield* chatOf(world, "maria")).filter(({ text }) => text === "written once")
      assert.strictEqual(written.length, 1)
    })
  )
})

layer(started, { excludeTestServices: true })("the audit log", (it) => {
  it.effect("tells who changed what, when and from where, and no secret", () =>
    Effect.gen(function* () {
      const { gatehouse, world } = yield* Started
      const api = `${gatehouse.url}/api/v1`
      const { tenant, token, user } = (yield* register(gatehouse.url)).body.data
      const log = (query = "", as: string = token) =>
        call("GET", `${api}/tenants/${tenant.slug}/audit-log${query}`, { token: as })
      const app = (yield* call("POST", `${api}/apps`, {
        token,
        body: { name: "Notes" },
        headers: { "x-request-id": "r-1" }
      })).body.data
      yield* call("PATCH", `${api}/apps/${app.uuid}`, { token, body: { name: "Better notes", nonsense: "x" } })
      yield* call("PATCH", `${api}/apps/${app.uuid}`, { token, body: { name: "" } })
      yield* call("GET", `${api}/apps/${app.uuid}`, { token })
      yield* call("POST", `${api}/apps/${app.uuid}/webhooks`, { token, body: { url: world.receiver.url } })
      const minted = yield* call("POST", `${api}/auth/tokens`, {
        token,
        body: { name: "reader", abilities: ["tenants:read"] }
      })

      const { body } = yield* log()
      deepStrictEqual(
        body.data.map(({ operation }: { operation: string }) => operation),
        ["webhooks.createAppWebhook", "apps.updateApp", "apps.createApp"]
      )
      const [, updated, created] = body.data
      assert.deepInclude(created, { record_uuid: app.uuid, user_uuid: user.uuid, user_name: "Ann", request_id: "r-1" })
      assert.deepInclude(updated, { record_uuid: app.uuid, path: { app: app.uuid }, changes: { name: "Better notes" } })
      assert.match(updated.address, /127\.0\.0\.1|::1/)
      assert.match(updated.created_at, /Z$/)

      const page = yield* log("?limit=2")
      const rest = yield* log(`?limit=2&cursor=${page.body.next_cursor}`)
      deepStrictEqual([...page.body.data, ...rest.body.data], body.data)
      deepStrictEqual((yield* log(`?record_uuid=${app.uuid}`)).body.data, [updated, created])
      deepStrictEqual((yield* log("?operation=apps.updateApp")).body.data, [updated])
      deepStrictEqual((yield* log(`?user_uuid=${user.uuid}`)).body.data, body.data)
      assert.strictEqual((yield* log("?user_uuid=nobody")).status, 422)
      assert.strictEqual((yield* log("?cursor=nonsense")).status, 400)

      const stranger = (yield* register(gatehouse.url)).body.data.token
      assert.strictEqual((yield* log("", stranger)).status, 404)
      assert.strictEqual((yield* log("", minted.body.data.token)).status, 200)
      assert.strictEqual((yield* log("", "gh_pat_wrong")).status, 401)
      const rows = yield* query(world, "SELECT * FROM audit_log")
      for (const secret of [token, minted.body.data.token, "eight characters"]) {
        assert.notInclude(JSON.stringify(rows), secret)
      }
    })
  )
})
