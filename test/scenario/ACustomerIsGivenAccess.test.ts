import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { eventually } from "../support/Story.ts"
import { makeTeam, Program } from "../support/Team.ts"

const future = "2100-01-01T00:00:00.000Z"
const further = "2100-06-01T00:00:00.000Z"

layer(Program.layer, { excludeTestServices: true })("access is given and taken back", (it) => {
  it.effect("a grant gives access at once, is listed and told, and ends when it is revoked", () =>
    Effect.gen(function* () {
      const { world } = yield* Program
      const team = yield* makeTeam
      yield* team.read("ann")
      const given = yield* team.ask("POST", `${team.customer("ann")}/grants`, {
        entitlement_identifier: "pro",
        expires_date: future
      })
      assert.strictEqual(given.status, 201)
      const { created_at, uuid, ...rest } = given.body.data
      deepStrictEqual(rest, {
        entitlement_identifier: "pro",
        is_active: true,
        expires_date: future,
        revoked_at: null
      })
      deepStrictEqual((yield* team.read("ann")).entitlements, {
        pro: {
          is_active: true,
          product_identifier: null,
          store: "custom",
          purchase_date: created_at,
          original_purchase_date: created_at,
          expires_date: future,
          grace_period_expires_date: null,
          will_renew: false,
          period_type: "promotional",
          source: "grant",
          environment: "production"
        }
      })
      const listed = yield* team.ask("GET", `${team.customer("ann")}/grants`)
      deepStrictEqual(listed.body, { data: [given.body.data], next_cursor: null })
      const row = yield* team.ask("GET", "/customers?search=ann")
      deepStrictEqual(row.body.data[0].active_entitlements, ["pro"])
      const [granted] = yield* team.told("entitlement.granted")
      assert.deepInclude(granted, {
        app_user_id: "ann",
        store: null,
        data: { grant_uuid: uuid, entitlement_identifier: "pro", expires_date: future }
      })
      const delivered = yield* eventually(
        Effect.sync(() => world.receiver.ledger.find(({ data }) => data.data["uuid"] === granted.uuid)),
        "entitlement.granted"
      )
      assert.strictEqual(delivered.event, "entitlement.granted")

      for (const _ of ["once", "twice"]) {
        const revoked = yield* team.ask("DELETE", `${team.customer("ann")}/grants/${uuid}`)
        deepStrictEqual([revoked.status, revoked.body], [200, { data: { uuid, deleted: true } }])
      }
      const after = (yield* team.read("ann")).entitlements.pro
      assert.strictEqual(after.is_active, false)
      assert.isTrue(after.expires_date < future)
      const [kept] = (yield* team.ask("GET", `${team.customer("ann")}/grants`)).body.data
      assert.strictEqual(kept.is_active, false)
      assert.strictEqual(kept.revoked_at, after.expires_date)
      assert.strictEqual((yield* team.told("entitlement.revoked")).length, 1)
    })
  )

  it.effect(
    "of several grants and a subscription the one that lasts longest shows, and one without end outlasts all",
    () =>
      Effect.gen(function* () {
        const team = yield* makeTeam
        yield* team.buy("ben")
        assert.strictEqual((yield* team.read("ben")).entitlements.pro.source, "subscription")
        const give = (expires_date: string | null) =>
          team.ask("POST", `${team.customer("ben")}/grants`, { entitlement_identifier: "pro", expires_date })
        const ends: Array<string | null> = []
        for (const end of [future, further, future, null]) {
          yield* give(end)
          ends.push((yield* team.read("ben")).entitlements.pro.expires_date)
        }
        deepStrictEqual(ends, [future, further, further, null])
        const pages: Array<string> = []
        let path = `${team.customer("ben")}/grants?limit=3`
        for (;;) {
          const { body } = yield* team.ask("GET", path)
          pages.push(...body.data.map(({ expires_date }: { expires_date: string }) => expires_date))
          if (body.next_cursor === null) break
          path = `${team.customer("ben")}/grants?limit=3&cursor=${body.next_cursor}`
        }
        deepStrictEqual(pages, [null, future, further, future])
        for (const { uuid } of (yield* team.ask("GET", `${team.customer("ben")}/grants`)).body.data) {
          yield* team.ask("DELETE", `${team.customer("ben")}/grants/${uuid}`)
        }
        const back = (yield* team.read("ben")).entitlements.pro
        assert.deepInclude(back, { source: "subscription", is_active: true, product_identifier: "pro.monthly" })
      })
  )

  it.effect("a wish that cannot be granted is refused with every reason, and nothing is told", () =>
    Effect.gen(function* () {
      const team = yield* makeTeam
      yield* team.read("ann")
      const give = (appUserId: string, body: unknown) => team.ask("POST", `${team.customer(appUserId)}/grants`, body)
      const past = yield* give("ann", { entitlement_identifier: "gold", expires_date: "2020-01-01T00:00:00.000Z" })
      assert.strictEqual(past.status, 422)
      deepStrictEqual(past.body.errors, {
        entitlement_identifier: ["names nothing in this app"],
        expires_date: ["must be in the future"]
      })
      const shapeless = yield* give("ann", { entitlement_identifier: 7, expires_date: "soon" })
      assert.strictEqual(shapeless.status, 422)
      assert.sameMembers(Object.keys(shapeless.body.errors), ["entitlement_identifier", "expires_date"])
      assert.strictEqual((yield* give("nobody", { entitlement_identifier: "pro" })).status, 404)
      assert.strictEqual((yield* team.ask("GET", `${team.customer("nobody")}/grants`)).status, 404)
      assert.strictEqual((yield* team.ask("GET", `${team.customer("ann")}/grants?cursor=x`)).status, 400)
      yield* team.read("ben")
      const bens = yield* give("ben", { entitlement_identifier: "pro" })
      for (const grant of [bens.body.data.uuid, "x", crypto.randomUUID()]) {
        assert.strictEqual((yield* team.ask("DELETE", `${team.customer("ann")}/grants/${grant}`)).status, 404)
      }
      assert.strictEqual(
        (yield* team.ask("DELETE", `${team.customer("no")}/grants/${bens.body.data.uuid}`)).status,
        404
      )
      assert.strictEqual((yield* team.told("entitlement.granted")).length, 1)
      assert.strictEqual((yield* team.told("entitlement.revoked")).length, 0)
    })
  )
})
