import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Option, Redacted } from "effect"
import { AiSettings } from "../../src/reply/AiSettings.ts"
import { inheriting } from "../../src/reply/domain/AiSettings.ts"
import * as Life from "../channel/Life.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

layer(TestDatabase.layer)("AiSettings", (it) => {
  it.effect("keeps what a put does not name, and the key until it is deleted", () =>
    Effect.gen(function* () {
      const settings = yield* AiSettings
      yield* settings.putGlobal({ enabled: true, modelName: "a" }, Option.some(Redacted.make("sk-secret")))
      const kept = yield* settings.putGlobal({ modelName: "b" }, Option.none())
      assert.deepInclude(kept.layer, { enabled: true, modelName: "b" })
      assert.isTrue(kept.hasApiKey)
      assert.isFalse((yield* settings.putGlobal({}, Option.some(null))).hasApiKey)
    }).pipe(Effect.provide(Life.layer(new Life.World())))
  )

  it.effect("uses the account's key before the one of all accounts, both sealed", () =>
    Effect.gen(function* () {
      const settings = yield* AiSettings
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* Life.connected
      yield* settings.putGlobal({}, Option.some(Redacted.make("sk-global")))
      const keyOf = Effect.flatMap(settings.configured(Option.some(id), inheriting), ({ apiKey }) =>
        Effect.map(apiKey, Option.map(Redacted.value))
      )
      deepStrictEqual(yield* keyOf, Option.some("sk-global"))
      yield* settings.putAccount(id, {}, Option.some(Redacted.make("sk-account")))
      deepStrictEqual(yield* keyOf, Option.some("sk-account"))
      yield* settings.deleteAccount(id)
      deepStrictEqual(yield* keyOf, Option.some("sk-global"))
      assert.isFalse((yield* settings.account(id)).hasApiKey)
      yield* settings.putAccount(id, {}, Option.some(Redacted.make("sk-account")))
      const rows = yield* sql`SELECT api_key_sealed FROM ai_global UNION SELECT api_key_sealed FROM ai_accounts`
      assert.notMatch(JSON.stringify(rows), /sk-/)
    }).pipe(Effect.provide(Life.layer(new Life.World())))
  )
})
