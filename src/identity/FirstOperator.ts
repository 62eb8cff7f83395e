import { Effect, Option, Redacted } from "effect"
import { makeToken } from "../kit/SecretToken.ts"
import { Accounts } from "./Accounts.ts"

export interface FirstOperator {
  readonly email: string
  /** Only what was generated just now: to be shown once. */
  readonly generatedPassword: Option.Option<Redacted.Redacted<string>>
}

/**
 * Creates the first operator where there is none (contract, part 1): a user with a workspace of its own who may also run
 * the gateway. None when an operator exists already.
 */
export const firstOperator = Effect.fn("firstOperator")(function* (options: {
  readonly email: string
  readonly password: Option.Option<Redacted.Redacted<string>>
}) {
  const accounts = yield* Accounts
  if (yield* accounts.operatorExists) return Option.none<FirstOperator>()
  const generated = yield* Effect.map(makeToken(""), (token) => Redacted.make(Redacted.value(token).slice(0, 20)))
  const created = yield* accounts
    .create({
      name: "Operator",
      email: options.email,
      password: Option.getOrElse(options.password, () => generated),
      tenantName: Option.none(),
      isOperator: true
    })
    .pipe(Effect.option)
  return Option.map(created, (): FirstOperator => ({
    email: options.email,
    generatedPassword: Option.isSome(options.password) ? Option.none() : Option.some(generated)
  }))
})
