import { HttpApiBuilder } from "@effect/platform"
import { Effect, Option } from "effect"
import { CurrentCaller } from "../api/Security.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import { tenantItem } from "./IdentityViews.ts"
import { Tenants } from "./Tenants.ts"

export const TenantsHttp = HttpApiBuilder.group(ServiceApi, "tenants", (handlers) =>
  Effect.map(Tenants, (tenants) =>
    handlers.handle("listTenants", ({ urlParams }) =>
      Effect.gen(function* () {
        const caller = yield* CurrentCaller
        const { before, limit } = yield* pageOf(urlParams)
        const all = (yield* tenants.ofUser(caller.userId)).map(({ tenant }) => tenant)
        const start = Option.match(before, {
          onNone: () => 0,
          onSome: (id) => all.findIndex((tenant) => tenant.id === id) + 1
        })
        return pageAnswer(all.slice(start, start + limit), limit, ({ id }) => id, tenantItem)
      })
    )
  )
)
