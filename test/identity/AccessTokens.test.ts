import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { assertNone, assertSome, deepStrictEqual } from "@effect/vitest/utils"
import { Array, DateTime, Effect, Option, Redacted, TestClock } from "effect"
import type { Ability } from "../../src/identity/domain/Ability.ts"
import { AccessTokens } from "../../src/identity/AccessTokens.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as Life from "./Life.ts"

const inMinutes = (minutes: number) => Effect.map(DateTime.now, (now) => Option.some(DateTime.add(now, { minutes })))

const issued = (abilities: ReadonlyArray<Ability> = ["*"], expiresAt: Option.Option<DateTime.Utc> = Option.none()) =>
  Effect.gen(function* () {
    const tokens = yield* AccessTokens
    const { user } = yield* Life.newUser()
    const { record, token } = yield* tokens.issue(user.id, { name: "first", abilities, expiresAt })
    return { record, token, bearer: { userId: user.id, tokenId: record.id, abilities } }
  })

layer(TestDatabase.layer)("AccessTokens", (it) => {
  it.effect("keeps a digest and knows the token by it until it expires", () =>
    Effect.gen(function* () {
      const tokens = yield* AccessTokens
      const sql = yield* SqlClient.SqlClient
      const { record, token } = yield* issued(["apps:read", "apps:read"], yield* inMinutes(10))
      const text = Redacted.value(token)
      assert.match(text, /^gh_pat_[0-9A-Za-z]{49}$/)
      deepStrictEqual(record.abilities, ["apps:read"])
      assert.notInclude(JSON.stringify(yield* sql`SELECT * FROM access_tokens`), text.slice(7))
      assertSome(
        Option.map(yield* tokens.authenticate(token), ({ id }) => id),
        record.id
      )
      for (const wrong of [text.slice(0, -1), `${text.slice(0, -1)}!`, text.toUpperCase(), ""]) {
        assertNone(yield* tokens.authenticate(Redacted.make(wrong)))
      }
      yield* TestClock.adjust("10 minutes")
      assertNone(yield* tokens.authenticate(token))
    }).pipe(Effect.provide(Life.layer()))
  )

  it.effect("notes its use, at most every five minutes", () =>
    Effect.gen(function* () {
      const tokens = yield* AccessTokens
      const { bearer, token } = yield* issued()
      const lastUse = Effect.map(tokens.page(bearer.userId, { before: Option.none(), limit: 1 }), ([only]) =>
        Option.flatMap(Option.fromNullable(only), ({ lastUsedAt }) => lastUsedAt)
      )
      assertNone(yield* lastUse)
      const start = yield* DateTime.now
      yield* Effect.all(Array.replicate(tokens.authenticate(token), 5), { concurrency: 5 })
      assertSome(yield* lastUse, start)
      yield* TestClock.adjust("299 seconds")
      yield* tokens.authenticate(token)
      assertSome(yield* lastUse, start)
      yield* TestClock.adjust("2 seconds")
      yield* tokens.authenticate(token)
      assertSome(yield* lastUse, DateTime.add(start, { seconds: 301 }))
    }).pipe(Effect.provide(Life.layer()))
  )

  it.effect("mints no more than itself, in ability and in time", () =>
    Effect.gen(function* () {
      const tokens = yield* AccessTokens
      const expiry = yield* inMinutes(60)
      const { bearer } = yield* issued(["apps:write", "customers:read"], expiry)
      const mint = (abilities: ReadonlyArray<Ability>, expiresAt: Option.Option<DateTime.Utc> = Option.none()) =>
        tokens.mint(bearer, { name: "second", abilities, expiresAt })
      deepStrictEqual((yield* mint(["apps:read"])).record.expiresAt, expiry)
      deepStrictEqual((yield* mint(["apps:write"], yield* inMinutes(90))).record.expiresAt, expiry)
      const shorter = yield* inMinutes(5)
      deepStrictEqual((yield* mint(["customers:read"], shorter)).record.expiresAt, shorter)
      for (const more of [["*"], ["customers:write"], ["apps:read", "webhooks:read"]] as const) {
        assert.strictEqual((yield* Effect.flip(mint(more)))._tag, "AbilitiesExceeded")
      }
      yield* tokens.revoke(bearer, bearer.tokenId)
      assert.strictEqual((yield* Effect.flip(mint(["apps:read"])))._tag, "AbilitiesExceeded")
    }).pipe(Effect.provide(Life.layer()))
  )

  it.effect("revokes itself and what it could have minted, of its own user only", () =>
    Effect.gen(function* () {
      const tokens = yield* AccessTokens
      const { bearer: full, token } = yield* issued()
      const { record: weak } = yield* tokens.mint(full, {
        name: "w",
        abilities: ["apps:read"],
        expiresAt: Option.none()
      })
      const weakBearer = { ...full, tokenId: weak.id, abilities: weak.abilities }
      const { bearer: foreign } = yield* issued()
      assert.strictEqual((yield* Effect.flip(tokens.revoke(weakBearer, full.tokenId)))._tag, "AbilitiesExceeded")
      assert.strictEqual((yield* Effect.flip(tokens.revoke(foreign, full.tokenId)))._tag, "TokenNotFound")
      assertSome(
        Option.map(yield* tokens.authenticate(token), ({ id }) => id),
        full.tokenId
      )
      yield* tokens.revoke(weakBearer, weak.id)
      assert.strictEqual((yield* Effect.flip(tokens.revoke(full, weak.id)))._tag, "TokenNotFound")
      yield* tokens.revoke(full, full.tokenId)
      assertNone(yield* tokens.authenticate(token))
    }).pipe(Effect.provide(Life.layer()))
  )
})
