import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { call } from "../support/Api.ts"
import { makeTeam, Program } from "../support/Team.ts"

const stranger = "$anonymous:0199f3a2"

layer(Program.layer, { excludeTestServices: true })("an anonymous customer gets a name", (it) => {
  it.effect("purchases, grants and history move, and the old id keeps leading to the merged customer", () =>
    Effect.gen(function* () {
      const team = yield* makeTeam
      const before = yield* team.read(stranger)
      assert.strictEqual(before.is_anonymous, true)
      yield* team.buy(stranger)
      yield* team.ask("POST", `${team.customer(stranger)}/grants`, { entitlement_identifier: "pro" })
      const identified = yield* team.identify(stranger, "ann")
      assert.strictEqual(identified.status, 200)
      const { subscriber } = identified.body
      assert.deepInclude(subscriber, {
        app_user_id: "ann",
        original_app_user_id: stranger,
        is_anonymous: false,
        first_seen: before.first_seen,
        aliases: [stranger]
      })
      assert.strictEqual(subscriber.subscriptions["pro.monthly"].is_active, true)
      assert.deepInclude(subscriber.entitlements.pro, { source: "grant", expires_date: null, is_active: true })
      deepStrictEqual(yield* team.read("ann"), subscriber)
      deepStrictEqual(yield* team.read(stranger), subscriber)
      const { url } = yield* Program
      const short = yield* call("GET", `${url}/api/v1/client/subscribers/${stranger}`, { token: team.key })
      deepStrictEqual(short.body, { subscriber })
      deepStrictEqual((yield* team.ask("GET", team.customer(stranger))).body, { subscriber })

      const list = yield* team.ask("GET", "/customers")
      deepStrictEqual(
        list.body.data.map(({ app_user_id }: { app_user_id: string }) => app_user_id),
        ["ann"]
      )
      deepStrictEqual(list.body.data[0].total_spent, { USD: 9.99 })
      const found = yield* team.ask("GET", "/customers?search=$ANONYMOUS:0199")
      assert.strictEqual(found.body.data[0].app_user_id, "ann")
      for (const path of ["subscriptions", "transactions"]) {
        const { body } = yield* team.ask("GET", `/${path}?app_user_id=${encodeURIComponent(stranger)}`)
        assert.strictEqual(body.data[0].app_user_id, "ann", path)
      }
      for (const name of ["ann", stranger]) {
        const { body } = yield* team.ask("GET", `/events?app_user_id=${encodeURIComponent(name)}`)
        deepStrictEqual(
          body.data.map(({ type }: { type: string }) => type),
          ["customer.identified", "customer.created", "entitlement.granted", "subscription.started", "customer.created"]
        )
      }
      const grants = yield* team.ask("GET", `${team.customer("ann")}/grants`)
      assert.strictEqual(grants.body.data.length, 1)
      const history = yield* team.ask("GET", `${team.customer("ann")}/history`)
      assert.isTrue(history.body.data.some((entry: any) => entry.event?.app_user_id === stranger))
      const [event] = yield* team.told("customer.identified")
      assert.deepInclude(event, {
        app_user_id: "ann",
        data: { app_user_id: "ann", previous_app_user_id: stranger }
      })

      const renewed = yield* team.buy(stranger, { product_id: "pro.yearly" })
      assert.strictEqual(renewed.body.receiver.status, 200)
      assert.property((yield* team.read("ann")).subscriptions, "pro.yearly")
    })
  )

  it.effect("the same call again changes nothing, and a second device of the person joins in", () =>
    Effect.gen(function* () {
      const team = yield* makeTeam
      yield* team.read("ann")
      const calls = yield* Effect.all(
        Array.from({ length: 8 }, (_, index) => team.identify(`$RCAnonymousID:${index % 2}`, "ann")),
        { concurrency: 8 }
      )
      deepStrictEqual(
        calls.map(({ status }) => status),
        calls.map(() => 200)
      )
      const { aliases, original_app_user_id } = yield* team.read("ann")
      assert.sameMembers(aliases, ["$RCAnonymousID:0", "$RCAnonymousID:1"])
      assert.strictEqual(original_app_user_id, "ann")
      assert.strictEqual((yield* team.told("customer.identified")).length, 2)
      assert.strictEqual((yield* team.told("customer.created")).length, 3)
      assert.strictEqual((yield* team.identify("ann", "ann")).status, 200)
      assert.strictEqual((yield* team.told("customer.identified")).length, 2)
    })
  )

  it.effect("of two people who claim one device at once exactly one gets it", () =>
    Effect.gen(function* () {
      const team = yield* makeTeam
      const claims = yield* Effect.all(
        Array.from({ length: 6 }, (_, index) => team.identify(stranger, index % 2 === 0 ? "ann" : "ben")),
        { concurrency: 6 }
      )
      const statuses = claims.map(({ status }) => status)
      assert.strictEqual(statuses.filter((status) => status === 200).length, 3)
      assert.strictEqual(statuses.filter((status) => status === 409).length, 3)
      const owner = (yield* team.read(stranger)).app_user_id
      assert.strictEqual(statuses[0] === 200 ? "ann" : "ben", owner)
    })
  )

  it.effect("two named customers never merge, an anonymous id is no name, and a bad name is refused", () =>
    Effect.gen(function* () {
      const team = yield* makeTeam
      yield* team.read("ann")
      const merged = yield* team.identify("ann", "ben")
      deepStrictEqual(
        [merged.status, merged.body],
        [409, { message: "The customer bears another name already.", errors: {} }]
      )
      yield* team.identify(stranger, "ann")
      assert.strictEqual((yield* team.identify(stranger, "ben")).status, 409)
      const nameless = yield* team.identify("$anonymous:2", "$RCAnonymousID:3")
      deepStrictEqual(nameless.body.errors, { app_user_id: ["must not be an anonymous id"] })
      assert.strictEqual(nameless.status, 422)
      for (const bad of ["", "a\nb", "x".repeat(256), 7, undefined]) {
        const refused = yield* team.identify("$anonymous:2", bad)
        assert.strictEqual(refused.status, 422)
        deepStrictEqual(Object.keys(refused.body.errors), ["app_user_id"])
      }
      const customers = yield* team.ask("GET", "/customers")
      assert.strictEqual(customers.body.data.length, 1)
      yield* team.ask("PATCH", "", { status: "paused" })
      assert.strictEqual((yield* team.identify(stranger, "ann")).status, 403)
    })
  )
})
