import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { data, Deleted, fields, Identifier, list, Name } from "../Envelope.ts"
import { PageQuery } from "../Page.ts"
import { BadRequest, Conflict, Invalid, NotFound } from "../Problem.ts"
import { AccessTokenAuth, requires } from "../Security.ts"
import { appPath } from "./AppsGroup.ts"

const EntitlementIdentifier = Identifier.annotations({ examples: ["pro"] })

const ProductIdentifiers = Schema.Array(Identifier).annotations({
  description: "Each stands for the products of all stores that carry it; one that matches none is refused (422)",
  examples: [["pro.monthly", "pro.yearly"]]
})

export const EntitlementFields = fields({
  identifier: EntitlementIdentifier,
  name: Name,
  product_identifiers: Schema.optional(ProductIdentifiers)
})

export const Entitlement = Schema.Struct({
  uuid: Schema.String,
  identifier: Schema.String,
  name: Schema.String,
  product_identifiers: Schema.Array(Schema.String).annotations({ description: "Each once, sorted" })
}).annotations({
  identifier: "Entitlement",
  examples: [
    {
      uuid: "019a9a43-33c8-7b9a-a1d4-0c8e5f2b7d63",
      identifier: "pro",
      name: "Pro",
      product_identifiers: ["pro.monthly", "pro.yearly"]
    }
  ]
})

const entitlementPath = HttpApiSchema.param("entitlement", Schema.String)

export class EntitlementsGroup extends HttpApiGroup.make("entitlements")
  .add(
    HttpApiEndpoint.get("listEntitlements")`/apps/${appPath}/entitlements`
      .setUrlParams(PageQuery)
      .addSuccess(list(Entitlement))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("catalog:read"))
      .annotate(OpenApi.Summary, "List entitlements, newest first")
  )
  .add(
    HttpApiEndpoint.post("createEntitlement")`/apps/${appPath}/entitlements`
      .setPayload(EntitlementFields)
      .addSuccess(data(Entitlement), { status: 201 })
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("catalog:write"))
      .annotate(OpenApi.Summary, "Create an entitlement")
  )
  .add(
    HttpApiEndpoint.patch("updateEntitlement")`/entitlements/${entitlementPath}`
      .setPayload(
        fields({
          identifier: Schema.optional(EntitlementIdentifier),
          name: Schema.optional(Name),
          product_identifiers: Schema.optional(ProductIdentifiers)
        })
      )
      .addSuccess(data(Entitlement))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("catalog:write"))
      .annotate(OpenApi.Summary, "Change an entitlement; absent fields keep their value")
      .annotate(
        OpenApi.Description,
        "`product_identifiers` replaces the products of before. The identifier changes only while none of its products was bought (409)."
      )
  )
  .add(
    HttpApiEndpoint.del("deleteEntitlement")`/entitlements/${entitlementPath}`
      .addSuccess(Deleted)
      .addError(NotFound.wire)
      .annotateContext(requires("catalog:write"))
      .annotate(OpenApi.Summary, "Delete an entitlement; its products stay")
  )
  .middleware(AccessTokenAuth) {}
