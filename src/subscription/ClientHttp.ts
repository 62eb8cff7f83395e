import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { CurrentApp } from "../api/Security.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { Customers } from "./Customers.ts"

export const ClientHttp = HttpApiBuilder.group(ServiceApi, "client", (handlers) =>
  Effect.map(Customers, (customers) =>
    handlers.handle("getSubscriber", ({ path }) =>
      Effect.gen(function* () {
        const app = yield* CurrentApp
        return { subscriber: yield* customers.seen(app.id, path.appUserId) }
      })
    )
  )
)
