import { randomBytes } from "node:crypto"
import { Effect, Layer, Redacted } from "effect"
import type { Scope } from "effect"
import { Client } from "pg"
import { inject } from "vitest"
import { DatabaseAddress } from "../../src/sql/Database.ts"
import * as Database from "../../src/sql/Database.ts"

const administer = (statement: string) =>
  Effect.promise(async () => {
    const client = new Client({ connectionString: inject("databaseServer").url })
    await client.connect()
    await client.query(statement)
    await client.end()
  })

const create = (from: "template" | "nothing") =>
  Effect.gen(function* () {
    const { template, url } = inject("databaseServer")
    const name = `gatehouse_test_${randomBytes(6).toString("hex")}`
    const origin = from === "template" ? `TEMPLATE ${template}` : ""
    yield* Effect.acquireRelease(administer(`CREATE DATABASE ${name} ${origin}`), () =>
      administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    )
    const own = new URL(url)
    own.pathname = `/${name}`
    return own.href
  })

/** An empty database that lives as long as the scope, for a program that a test starts with it as `DATABASE_URL`. */
export const url: Effect.Effect<string, never, Scope.Scope> = create("nothing")

/** The address of a migrated database that lives as long as the layer. */
export const address = Layer.scoped(
  DatabaseAddress,
  Effect.map(create("template"), (url) => ({
    url: Redacted.make(url),
    maxConnections: 10,
    origin: "external" as const
  }))
)

/** A migrated database of its own for one test file, dropped afterwards. */
export const layer = Database.layer.pipe(Layer.provideMerge(address), Layer.orDie)
