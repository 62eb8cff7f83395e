import { SqlClient } from "@effect/sql"
import { Context, Data, DateTime, Effect, Layer, Option, type Redacted } from "effect"
import { nextId } from "../kit/Id.ts"
import { type Tenant, User, UserId } from "./domain/User.ts"
import { Passwords } from "./Passwords.ts"
import { Tenants } from "./Tenants.ts"
import { UserRepo } from "./UserRepo.ts"

export class EmailTaken extends Data.TaggedError("EmailTaken")<{}> {}
export class RegistrationClosed extends Data.TaggedError("RegistrationClosed")<{}> {}
/** Wrong e-mail and wrong password are one answer, in the same time. */
export class LoginRefused extends Data.TaggedError("LoginRefused")<{}> {}

export interface Registration {
  readonly name: string
  readonly email: string
  readonly password: Redacted.Redacted<string>
  readonly tenantName: Option.Option<string>
  readonly isOperator: boolean
}

/** Users with a workspace of their own (subscription management, part 4, "Health and authentication"). */
export class Accounts extends Context.Tag("gatehouse/identity/Accounts")<
  Accounts,
  {
    /** A registration by its user. `closed` refuses once the first user exists. */
    readonly register: (
      input: Registration
    ) => Effect.Effect<{ readonly user: User; readonly tenant: Tenant }, EmailTaken | RegistrationClosed>
    /** The same by the operator of the program, whatever `REGISTRATION` says. */
    readonly create: (
      input: Registration
    ) => Effect.Effect<{ readonly user: User; readonly tenant: Tenant }, EmailTaken>
    readonly login: (email: string, password: Redacted.Redacted<string>) => Effect.Effect<User, LoginRefused>
    readonly byEmail: (email: string) => Effect.Effect<Option.Option<User>>
    readonly byId: (id: UserId) => Effect.Effect<Option.Option<User>>
    readonly operatorExists: Effect.Effect<boolean>
  }
>() {
  static readonly layer = (options: { readonly registration: "open" | "closed" }) =>
    Layer.effect(
      Accounts,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const users = yield* UserRepo
        const tenants = yield* Tenants
        const passwords = yield* Passwords

        const insert = Effect.fn("Accounts.insert")(
          function* (input: Registration, passwordHash: string) {
            const createdAt = yield* DateTime.now
            const user = User.make({
              id: UserId.make(yield* nextId),
              name: input.name,
              email: input.email,
              isOperator: input.isOperator,
              createdAt
            })
            const isNew = yield* users.insert({ ...user, passwordHash, createdAt: DateTime.toDateUtc(createdAt) })
            if (!isNew) return yield* new EmailTaken()
            const name = Option.getOrElse(input.tenantName, () => `${input.name}'s workspace`)
            const tenant = yield* tenants.create(user.id, { name, billingEmail: Option.none() })
            return { user, tenant }
          },
          sql.withTransaction,
          Effect.catchTag("SqlError", Effect.die)
        )

        /** Hashes before the transaction begins: who waits for a turn at hashing holds no connection. */
        const create = Effect.fn("Accounts.create")(function* (input: Registration) {
          const taken = yield* users.byEmail(input.email)
          if (Option.isSome(taken)) return yield* new EmailTaken()
          return yield* insert(input, yield* passwords.hash(input.password))
        })

        const register = Effect.fn("Accounts.register")(function* (input: Registration) {
          if (options.registration === "closed" && (yield* users.exists)) return yield* new RegistrationClosed()
          return yield* create(input)
        })

        const login = Effect.fn("Accounts.login")(function* (email: string, password: Redacted.Redacted<string>) {
          const found = yield* users.byEmail(email)
          const matches = yield* passwords.verify(Option.getOrUndefined(found)?.passwordHash, password)
          if (!matches || Option.isNone(found)) return yield* new LoginRefused()
          return User.make(found.value)
        })

        return Accounts.of({
          register,
          create,
          login,
          byEmail: (email) =>
            Effect.map(
              users.byEmail(email),
              Option.map((found) => User.make(found))
            ),
          byId: users.byId,
          operatorExists: users.operatorExists
        })
      })
    ).pipe(Layer.provide(UserRepo.Default))
}
