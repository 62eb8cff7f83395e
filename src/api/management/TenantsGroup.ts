import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Email } from "../../identity/domain/Email.ts"
import { Plan } from "../../identity/domain/User.ts"
import { data, Deleted, fields, list, Name, Timestamp } from "../Envelope.ts"
import { PageQuery } from "../Page.ts"
import { BadRequest, Conflict, Invalid, NotFound } from "../Problem.ts"
import { AccessTokenAuth, requires } from "../Security.ts"

export const Tenant = Schema.Struct({
  uuid: Schema.String,
  name: Schema.String,
  slug: Schema.String.annotations({ description: "Made from the name at creation, unique, and kept for ever" }),
  billing_email: Schema.NullOr(Schema.String),
  plan: Plan.annotations({ description: "A label of the company's own; no limit hangs on it" }),
  created_at: Timestamp,
  updated_at: Timestamp
}).annotations({
  identifier: "Tenant",
  examples: [
    {
      uuid: "019a9a3e-6c20-7a11-8d0c-4f5a1a6b9e02",
      name: "Ann's workspace",
      slug: "ann-s-workspace",
      billing_email: null,
      plan: "free",
      created_at: "2026-03-01T09:30:00.000Z",
      updated_at: "2026-03-01T09:30:00.000Z"
    }
  ]
})

const NullableEmail = Schema.NullOr(Email).annotations({
  message: () => ({ message: "must be an e-mail address or null", override: true })
})

/** `{tenant}`: a uuid or a slug. */
export const tenantPath = HttpApiSchema.param("tenant", Schema.String.annotations({ description: "uuid or slug" }))

export class TenantsGroup extends HttpApiGroup.make("tenants")
  .add(
    HttpApiEndpoint.get("listTenants", "/tenants")
      .setUrlParams(PageQuery)
      .addSuccess(list(Tenant))
      .addError(BadRequest.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("tenants:read"))
      .annotate(OpenApi.Summary, "List the user's workspaces, the default one first")
      .annotate(
        OpenApi.Description,
        "In the order in which the user joined them: the first is used where `X-Tenant` is absent."
      )
  )
  .add(
    HttpApiEndpoint.post("createTenant", "/tenants")
      .setPayload(fields({ name: Name, billing_email: Schema.optionalWith(NullableEmail, { exact: true }) }))
      .addSuccess(data(Tenant), { status: 201 })
      .addError(BadRequest.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("tenants:write", "viewer"))
      .annotate(OpenApi.Summary, "Create a workspace, whose owner the user becomes")
  )
  .add(
    HttpApiEndpoint.get("getTenant")`/tenants/${tenantPath}`
      .addSuccess(data(Tenant))
      .addError(NotFound.wire)
      .annotateContext(requires("tenants:read"))
      .annotate(OpenApi.Summary, "Show a workspace")
  )
  .add(
    HttpApiEndpoint.patch("updateTenant")`/tenants/${tenantPath}`
      .setPayload(
        fields({
          name: Schema.optionalWith(Name, { exact: true }),
          billing_email: Schema.optionalWith(NullableEmail, { exact: true }),
          plan: Schema.optionalWith(Plan, { exact: true })
        })
      )
      .addSuccess(data(Tenant))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("tenants:write"))
      .annotate(OpenApi.Summary, "Change a workspace; absent fields keep their value, null clears")
      .annotate(OpenApi.Description, "The slug follows no rename.")
  )
  .add(
    HttpApiEndpoint.del("deleteTenant")`/tenants/${tenantPath}`
      .addSuccess(Deleted)
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .annotateContext(requires("tenants:write", "owner"))
      .annotate(OpenApi.Summary, "Delete a workspace without apps")
      .annotate(OpenApi.Description, "Owners only. 409 while it has apps, archived ones included.")
  )
  .middleware(AccessTokenAuth) {}
