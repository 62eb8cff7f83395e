import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { Client } from "pg"
import { call } from "../support/Api.ts"
import { eventually } from "../support/Story.ts"
import { makeTeam, Program } from "../support/Team.ts"

const stranger = "$anonymous:of-ann"
const ann = "ann@example.com"

const withClient = <A>(databaseUrl: string, use: (client: Client) => Promise<A>) =>
  Effect.promise(async () => {
    const client = new Client({ connectionString: databaseUrl })
    await client.connect()
    return use(client).finally(() => client.end())
  })

/** Every row of every table that holds the text somewhere. */
const rowsWith = (databaseUrl: string, text: string) =>
  withClient(databaseUrl, async (client) => {
    const tables = await client.query<{ name: string }>(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
    )
    const found: Array<string> = []
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`)
      found.push(...rows.filter(({ row }) => row.includes(text)).map(({ row }) => `${name}: ${row}`))
    }
    return found
  })

/** What is kept of the stores' signed notifications: base64 in which no search would find a name. */
const signedWords = (databaseUrl: string, appId: string) =>
  withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ payload: string }>(
      "SELECT payload FROM store_notifications WHERE app_id = $1",
      [appId]
    )
    return rows.map(({ payload }) => payload)
  })

/** True when no delivery waits or is under way. */
const isDelivered = (databaseUrl: string) =>
  withClient(databaseUrl, async (client) => {
    const { rowCount } = await client.query("SELECT FROM webhook_deliveries WHERE due_at IS NOT NULL")
    return rowCount === 0 ? true : undefined
  })

layer(Program.layer, { excludeTestServices: true })("a person is forgotten", (it) => {
  it.effect("no id of the person is left in any table, and the sums stay", () =>
    Effect.gen(function* () {
      const { world } = yield* Program
      const team = yield* makeTeam
      yield* team.read(stranger)
      const bought = yield* team.buy(stranger)
      yield* team.ask("POST", `${team.customer(stranger)}/grants`, { entitlement_identifier: "pro" })
      yield* team.identify(stranger, ann)
      yield* team.read("ben")
      yield* team.identify("$anonymous:of-ben", "ben")
      const [before] = (yield* team.ask("GET", `/customers?search=${ann}`)).body.data
      assert.isAbove((yield* rowsWith(world.databaseUrl, ann)).length, 0)
      assert.isAbove((yield* rowsWith(world.databaseUrl, stranger)).length, 0)
      yield* eventually(
        Effect.sync(() => (world.receiver.ledger.some(({ body }) => body.includes(ann)) ? true : undefined)),
        "customer.identified"
      )

      assert.isAbove((yield* signedWords(world.databaseUrl, team.id))[0]?.length ?? 0, 0)
      const erased = yield* team.ask("DELETE", team.customer(stranger))
      deepStrictEqual([erased.status, erased.body], [200, { data: { uuid: before.uuid, deleted: true } }])
      deepStrictEqual(yield* rowsWith(world.databaseUrl, ann), [])
      deepStrictEqual(yield* rowsWith(world.databaseUrl, stranger), [])
      for (const name of [ann, stranger]) {
        assert.strictEqual((yield* team.ask("GET", team.customer(name))).status, 404)
        assert.strictEqual((yield* team.ask("DELETE", team.customer(name))).status, 404)
        assert.strictEqual((yield* team.ask("GET", `${team.customer(name)}/history`)).status, 404)
      }
      const listed = yield* team.ask("GET", "/customers")
      deepStrictEqual(
        listed.body.data.map(({ app_user_id }: { app_user_id: string }) => app_user_id),
        ["ben"]
      )

      const [transaction] = (yield* team.ask("GET", "/transactions")).body.data
      assert.strictEqual(transaction.price, 9.99)
      assert.match(transaction.app_user_id, /^\$anonymous:[0-9a-f-]{36}$/)
      const [subscription] = (yield* team.ask("GET", "/subscriptions")).body.data
      assert.strictEqual(subscription.app_user_id, transaction.app_user_id)
      const [deleted] = yield* team.told("customer.deleted")
      assert.deepInclude(deleted, {
        app_user_id: transaction.app_user_id,
        data: { customer_uuid: before.uuid }
      })
      const { body: told } = yield* team.ask("GET", "/events?limit=100")
      assert.strictEqual(told.data.filter(({ app_user_id }: any) => app_user_id === "ben").length, 2)
      const deliveries = yield* team.ask("GET", "/webhook-deliveries?limit=100")
      const identified = deliveries.body.data.filter(({ event }: any) => event === "customer.identified")
      deepStrictEqual(
        identified.map(({ payload }: any) => payload.data.data).map(({ app_user_id }: any) => app_user_id),
        ["ben", transaction.app_user_id]
      )
      const tombstone = yield* team.ask("GET", team.customer(transaction.app_user_id))
      assert.strictEqual(tombstone.status, 404)
      assert.strictEqual((yield* team.identify(transaction.app_user_id, "ben")).status, 409)

      const purchase = bought.body.purchase.originalTransactionId
      yield* call("POST", `${world.storeA.url}/_control/purchases/${purchase}/renew`, { body: {} })
      const { body: renewed } = yield* team.ask("GET", "/transactions")
      deepStrictEqual(
        renewed.data.map(({ app_user_id }: any) => app_user_id),
        [transaction.app_user_id, transaction.app_user_id]
      )
      deepStrictEqual(yield* rowsWith(world.databaseUrl, stranger), [])
      deepStrictEqual(yield* signedWords(world.databaseUrl, team.id), ["", ""])

      const again = yield* team.read(ann)
      deepStrictEqual([again.entitlements, again.aliases], [{}, []])
      assert.strictEqual((yield* team.told("customer.created")).length, 5)
    })
  )

  it.effect("what waits to be delivered is delivered without the name", () =>
    Effect.gen(function* () {
      const { world } = yield* Program
      const team = yield* makeTeam
      yield* eventually(isDelivered(world.databaseUrl), "all that was told before")
      world.receiver.script.push(...Array.from({ length: 1 }, () => 500))
      yield* team.read("carl")
      const failed = yield* eventually(
        Effect.map(team.ask("GET", "/webhook-deliveries"), ({ body }) =>
          body.data.find(({ state }: { state: string }) => state === "failed")
        ),
        "a failed delivery"
      )
      assert.strictEqual(failed.attempts[0].response_body, "ok")
      yield* team.ask("DELETE", team.customer("carl"))
      const { url } = yield* Program
      const retried = yield* call("POST", `${url}/api/v1/webhook-deliveries/${failed.id}/retry`, { token: team.token })
      assert.strictEqual(retried.status, 200)
      const sent = yield* eventually(
        Effect.sync(() =>
          world.receiver.ledger.find(
            ({ body, data }) => data.data["uuid"] === failed.payload.data.uuid && !body.includes("carl")
          )
        ),
        "the delivery without the name"
      )
      assert.match(String(sent.data.data["app_user_id"]), /^\$anonymous:/)
      const { body } = yield* team.ask("GET", "/webhook-deliveries")
      const delivery = body.data.find(({ id }: { id: string }) => id === failed.id)
      assert.isNull(delivery.attempts[0].response_body)
    })
  )

  it.effect("erasing and using a customer at the same time leaves one of both orders", () =>
    Effect.gen(function* () {
      const team = yield* makeTeam
      yield* team.read("dora")
      const answers = yield* Effect.all(
        [
          team.ask("DELETE", team.customer("dora")),
          team.ask("DELETE", team.customer("dora")),
          team.identify("$anonymous:of-dora", "dora"),
          team.buy("dora"),
          team.ask("POST", `${team.customer("dora")}/grants`, { entitlement_identifier: "pro" })
        ],
        { concurrency: 5 }
      )
      for (const { status } of answers) assert.include([200, 201, 404], status)
      assert.strictEqual(answers[3].body.receiver.status, 200)
      const deleted = yield* team.told("customer.deleted")
      assert.strictEqual(deleted.length, [answers[0], answers[1]].filter(({ status }) => status === 200).length)
      const created = yield* team.told("customer.created")
      assert.isAtMost(created.filter(({ app_user_id }) => app_user_id === "dora").length, 1)
      const inbox = yield* team.ask("GET", "/store-notifications")
      assert.strictEqual(inbox.body.data[0].state, "applied")
    })
  )
})
