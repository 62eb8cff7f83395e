import { Command } from "@effect/cli"
import { Console, Effect, Layer, Option, Redacted } from "effect"
import { load } from "../Config.ts"
import type { FirstOperator } from "../identity/FirstOperator.ts"
import { program } from "./Loaded.ts"
import { secretsOf } from "./Secrets.ts"

const announce = ({ email, generatedPassword }: FirstOperator) =>
  Option.match(generatedPassword, {
    onNone: () => Effect.void,
    onSome: (password) =>
      Console.log(
        `\n  The first operator is ${email}, password ${Redacted.value(password)}\n  This is shown once: keep it.\n`
      )
  })

export const serveCommand = Command.make("serve", {}, () =>
  Effect.gen(function* () {
    const settings = yield* load
    const secrets = yield* secretsOf(settings)
    const Program = yield* program
    return yield* Layer.launch(Program.server(settings, secrets, announce))
  })
).pipe(Command.withDescription("Run both APIs and all actors"))
