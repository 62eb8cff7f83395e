import { Effect, Option } from "effect"
import { Forbidden, NotFound } from "../api/Problem.ts"
import { CurrentCaller } from "../api/Security.ts"
import { Tenants } from "./Tenants.ts"

export const noTenant = () => new NotFound({ message: "No such workspace." })
export const roleTooLow = () => new Forbidden({ message: "Your role in this workspace does not allow that." })

/** The workspace of the path, by uuid or slug, as far as the caller may touch it; otherwise the refusal of the contract. */
export const callerTenant = Effect.fn("callerTenant")(
  function* (name: string) {
    const tenants = yield* Tenants
    return yield* tenants.select(yield* CurrentCaller, Option.some(name))
  },
  Effect.catchTags({ TenantNotFound: noTenant, RoleTooLow: roleTooLow })
)
