import { Command } from "@effect/cli"
import { Console, Effect } from "effect"
import { load } from "../Config.ts"
import * as Program from "../Program.ts"
import { migrate } from "../sql/Migrations.ts"
import { dump } from "../sql/SchemaDump.ts"

export const schemaCommand = Command.make("schema", {}, () =>
  Effect.gen(function* () {
    const settings = yield* load
    const statements = yield* Effect.provide(
      Effect.zipRight(migrate, dump),
      Program.storage(settings, { visitor: true })
    )
    yield* Console.log(statements.trimEnd())
  })
).pipe(Command.withDescription("Bring the database up to date and print its tables as SQL"))
