import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { Conflict, Invalid } from "../api/Problem.ts"
import { CurrentApp } from "../api/Security.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { Customers } from "./Customers.ts"
import { Identities } from "./Identities.ts"

export const ClientHttp = HttpApiBuilder.group(ServiceApi, "client", (handlers) =>
  Effect.gen(function* () {
    const customers = yield* Customers
    const identities = yield* Identities

    return handlers
      .handle("getSubscriber", ({ path }) =>
        Effect.gen(function* () {
          const app = yield* CurrentApp
          return { subscriber: yield* customers.seen(app.id, path.appUserId) }
        })
      )
      .handle("identifySubscriber", ({ path, payload }) =>
        Effect.gen(function* () {
          const app = yield* CurrentApp
          yield* identities.identify(app.id, path.appUserId, payload.app_user_id)
          return { subscriber: yield* customers.seen(app.id, payload.app_user_id) }
        }).pipe(
          Effect.catchTags({
            AlreadyNamed: () => new Conflict({ message: "The customer bears another name already." }),
            NameIsAnonymous: () =>
              new Invalid({
                message: "The given data was invalid.",
                errors: { app_user_id: ["must not be an anonymous id"] }
              })
          })
        )
      )
  })
)
