import { Command } from "@effect/cli"
import { Console, Effect } from "effect"
import { load } from "../Config.ts"
import { migrations, program, schemaDump } from "./Loaded.ts"

export const schemaCommand = Command.make("schema", {}, () =>
  Effect.gen(function* () {
    const settings = yield* load
    const Program = yield* program
    const { migrate } = yield* migrations
    const { dump } = yield* schemaDump
    const statements = yield* Effect.provide(
      Effect.zipRight(migrate, dump),
      Program.storage(settings, { visitor: true })
    )
    yield* Console.log(statements.trimEnd())
  })
).pipe(Command.withDescription("Bring the database up to date and print its tables as SQL"))
