import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { data, Deleted, fields, Identifier, list, Moment, Timestamp } from "../Envelope.ts"
import { PageQuery } from "../Page.ts"
import { BadRequest, Invalid, NotFound } from "../Problem.ts"
import { AccessTokenAuth, requires } from "../Security.ts"
import { appPath } from "./AppsGroup.ts"
import { appUserPath } from "./CustomersGroup.ts"

export const Grant = Schema.Struct({
  uuid: Schema.String,
  entitlement_identifier: Schema.String,
  is_active: Schema.Boolean,
  expires_date: Schema.NullOr(Timestamp).annotations({ description: "Null: lasts until it is revoked" }),
  revoked_at: Schema.NullOr(Timestamp),
  created_at: Timestamp
}).annotations({
  identifier: "Grant",
  examples: [
    {
      uuid: "019a9a4a-33c8-7b9a-a1d4-0c8e5f2b7d6a",
      entitlement_identifier: "pro",
      is_active: true,
      expires_date: "2026-04-02T08:00:00.000Z",
      revoked_at: null,
      created_at: "2026-03-02T08:00:00.000Z"
    }
  ]
})

export class GrantsGroup extends HttpApiGroup.make("grants")
  .add(
    HttpApiEndpoint.get("listGrants")`/apps/${appPath}/customers/${appUserPath}/grants`
      .setUrlParams(PageQuery)
      .addSuccess(list(Grant))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("customers:read"))
      .annotate(OpenApi.Summary, "List a customer's grants, ended ones included")
  )
  .add(
    HttpApiEndpoint.post("createGrant")`/apps/${appPath}/customers/${appUserPath}/grants`
      .setPayload(
        fields({
          entitlement_identifier: Identifier.annotations({ examples: ["pro"] }),
          expires_date: Schema.optional(
            Schema.NullOr(Moment).annotations({
              description: "In the future; null or absent: until it is revoked"
            })
          )
        })
      )
      .addSuccess(data(Grant), { status: 201 })
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("customers:write"))
      .annotate(OpenApi.Summary, "Give a customer an entitlement")
      .annotate(
        OpenApi.Description,
        "Grants add up with each other and with purchases: the source that lasts longest counts. The customer must exist. Event `entitlement.granted`."
      )
  )
  .add(
    HttpApiEndpoint.del(
      "revokeGrant"
    )`/apps/${appPath}/customers/${appUserPath}/grants/${HttpApiSchema.param("grant", Schema.String)}`
      .addSuccess(Deleted)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("customers:write"))
      .annotate(OpenApi.Summary, "Revoke a grant at once")
      .annotate(
        OpenApi.Description,
        "The grant stays listed with `revoked_at`. Revoking it again changes nothing. Event `entitlement.revoked`."
      )
  )
  .middleware(AccessTokenAuth) {}
