import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { DateTime, Effect } from "effect"
import { nextId } from "../../src/kit/Id.ts"
import { prune } from "../../src/sql/Retention.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

layer(TestDatabase.layer)("retention", (it) => {
  it.effect("takes what is old and finished, and leaves what is young or still waits", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const delivery = Effect.fn(function* (createdAt: string, dueAt: string | null) {
        const [id, eventId, ownerId] = [yield* nextId, yield* nextId, yield* nextId]
        const event = "message.received"
        yield* sql`INSERT INTO webhook_events ${sql.insert({ id: eventId, ownerKind: "app", ownerId, event, body: "{}", createdAt })}`
        const state = dueAt === null ? "succeeded" : "failed"
        yield* sql`INSERT INTO webhook_deliveries ${sql.insert({ id, endpointId: ownerId, ownerId, eventId, event, state, dueAt, createdAt })}`
        return id
      })
      yield* delivery("2020-01-01T00:00:00Z", null)
      const waiting = yield* delivery("2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z")
      const young = yield* delivery("2026-01-01T00:00:00Z", null)
      assert.strictEqual(yield* prune(DateTime.unsafeMake("2025-01-01T00:00:00Z")), 2)
      assert.strictEqual(yield* prune(DateTime.unsafeMake("2025-01-01T00:00:00Z")), 0)
      const left = yield* sql<{ id: string }>`SELECT id FROM webhook_deliveries ORDER BY id`
      deepStrictEqual(
        left.map(({ id }) => id),
        [waiting, young]
      )
    })
  )
})
