import { Effect, Option, Schema } from "effect"
import { NotFound } from "../api/Problem.ts"
import { CurrentCaller } from "../api/Security.ts"
import { noTenant, roleTooLow } from "../identity/CallerTenantHttp.ts"
import { Tenants } from "../identity/Tenants.ts"
import { Apps } from "./Apps.ts"
import type { AppId } from "./domain/App.ts"

export const noSuchApp = () => new NotFound({ message: "No such app." })

/** The app of the path, as far as the caller may touch it; otherwise the refusal of the contract. */
export const callerApp = Effect.fn("callerApp")(
  function* (id: string) {
    const apps = yield* Apps
    return yield* apps.forCaller(yield* CurrentCaller, id)
  },
  Effect.catchTags({ AppNotFound: noSuchApp, RoleTooLow: roleTooLow })
)

/** The workspace of `X-Tenant`, or the caller's first one. */
export const chosenTenant = Effect.fn("chosenTenant")(
  function* (header: string | undefined) {
    const tenants = yield* Tenants
    return yield* tenants.select(yield* CurrentCaller, Option.fromNullable(header))
  },
  Effect.catchTags({ TenantNotFound: noTenant, RoleTooLow: roleTooLow })
)

/** A kind of record that is addressed by its own id. One of a foreign workspace looks like none. */
export const callerRecord =
  <Id, Row extends { readonly appId: AppId }>(
    kind: string,
    Id: Schema.Schema<Id, string>,
    byId: (id: Id) => Effect.Effect<Option.Option<Row>>
  ) =>
  (text: string) => {
    const absent = new NotFound({ message: `No such ${kind}.` })
    return Effect.gen(function* () {
      const id = Schema.decodeOption(Id)(text)
      const found = Option.isNone(id) ? Option.none() : yield* byId(id.value)
      if (Option.isNone(found)) return yield* absent
      const apps = yield* Apps
      yield* apps.forCaller(yield* CurrentCaller, found.value.appId)
      return found.value
    }).pipe(Effect.catchTags({ AppNotFound: () => absent, RoleTooLow: roleTooLow }))
  }
