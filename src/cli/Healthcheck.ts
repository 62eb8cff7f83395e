import { Args, Command } from "@effect/cli"
import { HttpClient } from "@effect/platform"
import { Console, Data, Effect, Option } from "effect"
import { load } from "../Config.ts"

class NotReady extends Data.TaggedError("NotReady")<{ readonly message: string }> {}

const url = Args.text({ name: "url" }).pipe(Args.optional)

export const healthcheckCommand = Command.make("healthcheck", { url }, ({ url }) =>
  Effect.gen(function* () {
    const { host, port } = yield* load
    const target = Option.getOrElse(url, () => `http://${host}:${port}/readyz`)
    const response = yield* HttpClient.get(target).pipe(
      Effect.timeout("5 seconds"),
      Effect.catchAll(() => new NotReady({ message: `${target} does not answer` }))
    )
    if (response.status !== 200) return yield* new NotReady({ message: `${target} answers ${response.status}` })
    yield* Console.log("ready")
  })
).pipe(Command.withDescription("Ask a running program whether it is ready; exit code 1 when it is not"))
