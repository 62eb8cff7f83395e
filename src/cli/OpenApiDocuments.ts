import { Args, Command } from "@effect/cli"
import { FileSystem, Path } from "@effect/platform"
import { Console, Effect, Option } from "effect"
import { docs } from "./Loaded.ts"

const json = (document: object) => JSON.stringify(document, null, 2)

const folder = Args.directory({ name: "folder" }).pipe(
  Args.withDescription("Where management.json and gateway.json go; without it both are printed as one object"),
  Args.optional
)

export const openapiCommand = Command.make("openapi", { folder }, ({ folder }) =>
  Effect.gen(function* () {
    const { openApi } = yield* docs
    const documents = yield* openApi
    if (Option.isNone(folder)) return yield* Console.log(json(documents))
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    yield* fs.makeDirectory(folder.value, { recursive: true })
    for (const [name, document] of Object.entries(documents)) {
      yield* fs.writeFileString(path.join(folder.value, `${name}.json`), `${json(document)}\n`)
    }
  })
).pipe(Command.withDescription("Write the OpenAPI documents of both APIs"))
