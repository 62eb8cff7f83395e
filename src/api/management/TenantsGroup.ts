import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Plan } from "../../identity/domain/User.ts"
import { list } from "../Envelope.ts"
import { PageQuery } from "../Page.ts"
import { BadRequest } from "../Problem.ts"
import { AccessTokenAuth, requires } from "../Security.ts"

export const Tenant = Schema.Struct({
  uuid: Schema.String,
  name: Schema.String,
  slug: Schema.String,
  billing_email: Schema.NullOr(Schema.String),
  plan: Plan
}).annotations({ identifier: "Tenant" })

export class TenantsGroup extends HttpApiGroup.make("tenants")
  .add(
    HttpApiEndpoint.get("listTenants", "/tenants")
      .setUrlParams(PageQuery)
      .addSuccess(list(Tenant))
      .addError(BadRequest.wire)
      .annotateContext(requires("tenants:read"))
      .annotate(OpenApi.Summary, "List the user's workspaces, the default one first")
  )
  .middleware(AccessTokenAuth) {}
