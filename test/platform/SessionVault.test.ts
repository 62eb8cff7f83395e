import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array, Effect, Layer, Option, Redacted } from "effect"
import { nextId } from "../../src/kit/Id.ts"
import { Seal } from "../../src/kit/Seal.ts"
import { SessionVault } from "../../src/platform/SessionVault.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const sealing = Seal.layer([Redacted.make(Buffer.alloc(32, 7))])
const services = SessionVault.layer.pipe(Layer.provide(sealing), Layer.provideMerge(TestDatabase.layer))

const channel = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const id = yield* nextId
  yield* sql`
    INSERT INTO channels (id, name, platform, token_digest, created_at) VALUES (${id}, 'Shop', 'platform_a', ${id}, now())`
  return id
})

const key = (keyId: string, value: string | null) => ({ kind: "pre-key", keyId, value })
const keys = (...changes: ReadonlyArray<ReturnType<typeof key>>) => ({ credentials: Option.none(), keys: changes })

layer(services)("SessionVault", (it) => {
  it.effect("keeps keys and credentials sealed, all of a write or nothing, for the last owner alone", () =>
    Effect.gen(function* () {
      const vault = yield* SessionVault
      const sql = yield* SqlClient.SqlClient
      const id = yield* channel
      const first = yield* vault.claim(id)
      yield* vault.write(first, {
        ...keys(key("1", "one"), key("2", "two")),
        credentials: Option.some(Redacted.make("me"))
      })
      const second = yield* vault.claim(id)
      assert.strictEqual((yield* Effect.flip(vault.write(first, keys(key("1", "stale")))))._tag, "NotOwner")
      yield* vault.write(second, keys(key("2", null), key("3", "three")))
      const found = yield* vault.keysOfKind(id, "pre-key")
      deepStrictEqual(found.map(({ keyId, value }) => [keyId, Redacted.value(value)]).toSorted(), [
        ["1", "one"],
        ["3", "three"]
      ])
      deepStrictEqual(Option.map(yield* vault.credentials(id), Redacted.value), Option.some("me"))
      yield* sql`UPDATE platform_session_keys SET sealed = (
        SELECT sealed FROM platform_session_keys WHERE channel_id = ${id} AND key_id = '3'
      ) WHERE channel_id = ${id} AND key_id = '1'`
      assert.isTrue((yield* Effect.exit(vault.keys(id, "pre-key", ["1"])))._tag === "Failure")
    })
  )

  it.effect("is forgotten while it is written, again and again, without a deadlock", () =>
    Effect.gen(function* () {
      const vault = yield* SessionVault
      const id = yield* channel
      const numbers = Array.makeBy(100, String)
      for (let round = 0; round < 8; round++) {
        const claim = yield* vault.claim(id)
        yield* vault.write(claim, keys(...numbers.map((keyId) => key(keyId, "before"))))
        const writing = Effect.either(vault.write(claim, keys(...numbers.map((keyId) => key(keyId, "after")))))
        yield* Effect.all([writing, vault.forget(id), writing], { concurrency: 3 })
        deepStrictEqual(yield* vault.keysOfKind(id, "pre-key"), [])
        assert.isTrue(Option.isNone(yield* vault.credentials(id)))
      }
    })
  )
})
