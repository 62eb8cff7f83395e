import { Args, Command, Options, Prompt } from "@effect/cli"
import { Console, type Context, Data, DateTime, Effect, Option, Redacted } from "effect"
import { load } from "../Config.ts"
import { identity, program } from "./Loaded.ts"
import { secretsOf } from "./Secrets.ts"

class CommandRefused extends Data.TaggedError("CommandRefused")<{ readonly message: string }> {}

type Identity = Effect.Effect.Success<typeof identity>
type Services = Context.Tag.Identifier<Identity["Accounts"] | Identity["OperatorTokens"]>

const withIdentity = <A, E>(use: (identity: Identity) => Effect.Effect<A, E, Services>) =>
  Effect.gen(function* () {
    const settings = yield* load
    const secrets = yield* secretsOf(settings)
    const Program = yield* program
    return yield* Effect.provide(use(yield* identity), Program.operators(settings, secrets))
  })

const email = Args.text({ name: "email" })

const create = Command.make(
  "create",
  {
    email,
    password: Options.redacted("password").pipe(
      Options.withDescription("Password of the new operator, at least 8 characters; asked for when it is not given"),
      Options.withFallbackPrompt(Prompt.password({ message: "Password" }))
    )
  },
  ({ email, password }) =>
    withIdentity(({ Accounts }) =>
      Effect.gen(function* () {
        if (Redacted.value(password).length < 8) {
          return yield* new CommandRefused({ message: "the password must have at least 8 characters" })
        }
        const accounts = yield* Accounts
        const { user } = yield* accounts
          .create({ name: email, email, password, tenantName: Option.none(), isOperator: true })
          .pipe(Effect.catchTag("EmailTaken", () => new CommandRefused({ message: `${email} is taken` })))
        yield* Console.log(`created operator ${user.email}`)
      })
    )
).pipe(Command.withDescription("Create an operator of the gateway"))

const token = Command.make("token", { email }, ({ email }) =>
  withIdentity(({ Accounts, OperatorTokens }) =>
    Effect.gen(function* () {
      const user = yield* Effect.flatMap(Accounts, (accounts) => accounts.byEmail(email))
      if (Option.isNone(user) || !user.value.isOperator) {
        return yield* new CommandRefused({ message: `there is no operator ${email}` })
      }
      const issued = yield* Effect.flatMap(OperatorTokens, (tokens) => tokens.issue(user.value.id))
      yield* Console.log(Redacted.value(issued.token))
      yield* Console.error(`expires ${DateTime.formatIso(issued.expiresAt)}`)
    })
  )
).pipe(Command.withDescription("Print a token for the gateway's administration"))

const revoke = Command.make("revoke", { token: Args.redacted({ name: "token" }) }, ({ token }) =>
  withIdentity(({ OperatorTokens }) =>
    Effect.gen(function* () {
      const tokens = yield* OperatorTokens
      const known = yield* tokens.authenticate(token)
      if (Option.isNone(known)) return yield* new CommandRefused({ message: "the token is not valid (any more)" })
      yield* tokens.revoke(known.value.tokenId)
      yield* Console.log("revoked")
    })
  )
).pipe(Command.withDescription("Revoke an operator token"))

export const operatorCommand = Command.make("operator").pipe(
  Command.withDescription("Manage operators from the shell"),
  Command.withSubcommands([create, token, revoke])
)
