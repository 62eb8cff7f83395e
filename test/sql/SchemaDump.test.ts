import { readFileSync } from "node:fs"
import { layer } from "@effect/vitest"
import { assertTrue, strictEqual } from "@effect/vitest/utils"
import { SqlClient } from "@effect/sql"
import { Effect, Redacted } from "effect"
import { Client } from "pg"
import { DatabaseAddress } from "../../src/sql/Database.ts"
import { dump } from "../../src/sql/SchemaDump.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const file = readFileSync(new URL("../../src/sql/schema.sql", import.meta.url), "utf8")

layer(TestDatabase.layer)("schema.sql", (it) => {
  it.effect("is what the migrations make: else run `npm run schema`", () =>
    Effect.gen(function* () {
      strictEqual(yield* dump, file)
    })
  )

  it.effect("tells of a table, an index and a trigger that are not in it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { url } = yield* DatabaseAddress
      yield* Effect.promise(async () => {
        const client = new Client({ connectionString: Redacted.value(url) })
        await client.connect()
        await client.query(`
          CREATE TABLE pebbles (id uuid PRIMARY KEY, size integer NOT NULL DEFAULT 3 CHECK (size > 0));
          CREATE INDEX pebbles_size ON pebbles (size DESC) WHERE size > 5;
          CREATE TRIGGER pebbles_thrown AFTER INSERT ON pebbles FOR EACH STATEMENT EXECUTE FUNCTION ledger_mark()`)
        await client.end()
      })
      const statements = yield* dump
      assertTrue(statements !== file)
      for (const part of [
        "CREATE TABLE pebbles (\n  id uuid NOT NULL,\n  size integer NOT NULL DEFAULT 3,\n  CONSTRAINT pebbles_pkey PRIMARY KEY (id),\n  CONSTRAINT pebbles_size_check CHECK ((size > 0))\n);\n",
        "CREATE INDEX pebbles_size ON pebbles USING btree (size DESC) WHERE (size > 5);\n",
        "CREATE TRIGGER pebbles_thrown AFTER INSERT ON pebbles FOR EACH STATEMENT EXECUTE FUNCTION ledger_mark();\n"
      ]) {
        assertTrue(statements.includes(part), part)
      }
      yield* sql`DROP TABLE pebbles`
      strictEqual(yield* dump, file)
    })
  )
})
