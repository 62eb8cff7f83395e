import { Command } from "@effect/cli"
import { Console, Effect } from "effect"
import { load } from "../Config.ts"
import { migrations, program } from "./Loaded.ts"

export const migrateCommand = Command.make("migrate", {}, () =>
  Effect.gen(function* () {
    const settings = yield* load
    const Program = yield* program
    const { migrate } = yield* migrations
    const applied = yield* Effect.provide(migrate, Program.storage(settings, { visitor: true }))
    yield* applied.length === 0
      ? Console.log("The database is up to date.")
      : Effect.forEach(applied, ([id, name]) => Console.log(`applied ${String(id).padStart(4, "0")} ${name}`))
  })
).pipe(Command.withDescription("Bring the database up to date"))
