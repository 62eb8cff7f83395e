import { Command } from "@effect/cli"
import { Console, Effect } from "effect"
import * as Program from "../Program.ts"
import { migrate } from "../sql/Migrations.ts"
import { load } from "../Config.ts"

export const migrateCommand = Command.make("migrate", {}, () =>
  Effect.gen(function* () {
    const settings = yield* load
    const applied = yield* Effect.provide(migrate, Program.storage(settings, { visitor: true }))
    yield* applied.length === 0
      ? Console.log("The database is up to date.")
      : Effect.forEach(applied, ([id, name]) => Console.log(`applied ${String(id).padStart(4, "0")} ${name}`))
  })
).pipe(Command.withDescription("Bring the database up to date"))
