import { randomBytes } from "node:crypto"
import { Effect, Layer, Redacted } from "effect"
import { Client } from "pg"
import { DatabaseAddress } from "../../src/sql/Database.ts"
import * as Database from "../../src/sql/Database.ts"
import * as Migrations from "../../src/sql/Migrations.ts"

const serverUrl = process.env["DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/test"

const administer = (statement: string) =>
  Effect.promise(async () => {
    const client = new Client({ connectionString: serverUrl })
    await client.connect()
    await client.query(statement)
    await client.end()
  })

/** The address of a migrated database that lives as long as the layer. */
export const address = Layer.scoped(
  DatabaseAddress,
  Effect.gen(function* () {
    const name = `gatehouse_test_${randomBytes(6).toString("hex")}`
    yield* Effect.acquireRelease(administer(`CREATE DATABASE ${name}`), () =>
      administer(`DROP DATABASE ${name} WITH (FORCE)`)
    )
    const url = new URL(serverUrl)
    url.pathname = `/${name}`
    return DatabaseAddress.of({ url: Redacted.make(url.href), maxConnections: 10, origin: "external" })
  })
)

/** A migrated database of its own for one test file, dropped afterwards. */
export const layer = Migrations.layer.pipe(Layer.provideMerge(Database.layer), Layer.provideMerge(address), Layer.orDie)
