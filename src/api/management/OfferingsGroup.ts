import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { data, Deleted, fields, Identifier, list } from "../Envelope.ts"
import { PageQuery } from "../Page.ts"
import { BadRequest, Conflict, Invalid, NotFound } from "../Problem.ts"
import { AccessTokenAuth, requires } from "../Security.ts"
import { appPath } from "./AppsGroup.ts"
import { Package } from "./PackagesGroup.ts"

const OfferingIdentifier = Identifier.annotations({ examples: ["default"] })

const IsCurrent = Schema.Boolean.annotations({
  description: "`true` takes the flag from the offering that had it: one offering of an app is current at most"
})

export const OfferingFields = {
  identifier: OfferingIdentifier,
  is_current: Schema.optional(IsCurrent)
}

export const Offering = Schema.Struct({
  uuid: Schema.String,
  identifier: Schema.String,
  is_current: Schema.Boolean,
  packages: Schema.Array(Package).annotations({ description: "Oldest first" })
}).annotations({
  identifier: "Offering",
  examples: [
    {
      uuid: "019a9a44-33c8-7b9a-a1d4-0c8e5f2b7d64",
      identifier: "default",
      is_current: true,
      packages: [
        {
          uuid: "019a9a45-33c8-7b9a-a1d4-0c8e5f2b7d65",
          identifier: "monthly",
          package_type: "monthly",
          product_identifier: "pro.monthly"
        }
      ]
    }
  ]
})

const offeringPath = HttpApiSchema.param("offering", Schema.String)

export class OfferingsGroup extends HttpApiGroup.make("offerings")
  .add(
    HttpApiEndpoint.get("listOfferings")`/apps/${appPath}/offerings`
      .setUrlParams(PageQuery)
      .addSuccess(list(Offering))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("catalog:read"))
      .annotate(OpenApi.Summary, "List offerings with their packages, newest first")
  )
  .add(
    HttpApiEndpoint.post("createOffering")`/apps/${appPath}/offerings`
      .setPayload(fields(OfferingFields))
      .addSuccess(data(Offering), { status: 201 })
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("catalog:write"))
      .annotate(OpenApi.Summary, "Create an offering; not the current one unless told")
  )
  .add(
    HttpApiEndpoint.patch("updateOffering")`/offerings/${offeringPath}`
      .setPayload(fields({ ...OfferingFields, identifier: Schema.optional(OfferingIdentifier) }))
      .addSuccess(data(Offering))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("catalog:write"))
      .annotate(OpenApi.Summary, "Change an offering; absent fields keep their value")
      .annotate(
        OpenApi.Description,
        "`is_current: false` on the current one leaves the app without a current offering."
      )
  )
  .add(
    HttpApiEndpoint.del("deleteOffering")`/offerings/${offeringPath}`
      .addSuccess(Deleted)
      .addError(NotFound.wire)
      .annotateContext(requires("catalog:write"))
      .annotate(OpenApi.Summary, "Delete an offering with its packages")
  )
  .middleware(AccessTokenAuth) {}
