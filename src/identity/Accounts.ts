import { SqlClient } from "@effect/sql"
import { Array, Context, Data, DateTime, Effect, Layer, Option, type Redacted } from "effect"
import { nextId } from "../kit/Id.ts"
import { candidate, slugOf } from "./domain/Slug.ts"
import { Tenant, TenantId, User, UserId } from "./domain/User.ts"
import { Passwords } from "./Passwords.ts"
import { TenantRepo } from "./TenantRepo.ts"
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
        const tenants = yield* TenantRepo
        const passwords = yield* Passwords

        const insertTenant = Effect.fn("Accounts.insertTenant")(function* (name: string, now: DateTime.Utc) {
          const createdAt = DateTime.toDateUtc(now)
          const id = TenantId.make(yield* nextId)
          const slug = slugOf(name, "workspace")
          const free = yield* Effect.findFirst(
            [...Array.map(Array.range(1, 20), (attempt) => candidate(slug, attempt)), `${slug}-${id}`],
            (candidateSlug) => tenants.insert({ id, name, slug: candidateSlug, createdAt, updatedAt: createdAt })
          )
          return Tenant.make({
            id,
            name,
            slug: Option.getOrElse(free, () => `${slug}-${id}`),
            billingEmail: null,
            plan: "free"
          })
        })

        const create = Effect.fn("Accounts.create")(
          function* (input: Registration) {
            const passwordHash = yield* passwords.hash(input.password)
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
            const tenant = yield* insertTenant(name, createdAt)
            yield* tenants.addMember({
              tenantId: tenant.id,
              userId: user.id,
              role: "owner",
              createdAt: DateTime.toDateUtc(createdAt)
            })
            return { user, tenant }
          },
          sql.withTransaction,
          Effect.catchTag("SqlError", Effect.die)
        )

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
    ).pipe(Layer.provide([UserRepo.Default, TenantRepo.Default]))
}
