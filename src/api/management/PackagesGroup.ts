import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { PackageType } from "../../catalog/domain/Offering.ts"
import { data, Deleted, fields, Identifier, list } from "../Envelope.ts"
import { PageQuery } from "../Page.ts"
import { BadRequest, Conflict, Invalid, NotFound } from "../Problem.ts"
import { AccessTokenAuth, requires } from "../Security.ts"

const PackageIdentifier = Identifier.annotations({
  description: "Unique within the offering",
  examples: ["monthly"]
})

const NamedProduct = Identifier.annotations({
  description: "Stands for the products of all stores that carry it; one that matches none is refused (422)",
  examples: ["pro.monthly"]
})

export const PackageFields = fields({
  identifier: PackageIdentifier,
  package_type: PackageType,
  product_identifier: NamedProduct
})

export const Package = Schema.Struct({
  uuid: Schema.String,
  identifier: Schema.String,
  package_type: PackageType,
  product_identifier: Schema.String
}).annotations({
  identifier: "Package",
  examples: [
    {
      uuid: "019a9a45-33c8-7b9a-a1d4-0c8e5f2b7d65",
      identifier: "monthly",
      package_type: "monthly",
      product_identifier: "pro.monthly"
    }
  ]
})

const offeringPath = HttpApiSchema.param("offering", Schema.String)
const packagePath = HttpApiSchema.param("package", Schema.String)

export class PackagesGroup extends HttpApiGroup.make("packages")
  .add(
    HttpApiEndpoint.get("listPackages")`/offerings/${offeringPath}/packages`
      .setUrlParams(PageQuery)
      .addSuccess(list(Package))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("catalog:read"))
      .annotate(OpenApi.Summary, "List packages of an offering, newest first")
  )
  .add(
    HttpApiEndpoint.post("createPackage")`/offerings/${offeringPath}/packages`
      .setPayload(PackageFields)
      .addSuccess(data(Package), { status: 201 })
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("catalog:write"))
      .annotate(OpenApi.Summary, "Add a package to an offering")
  )
  .add(
    HttpApiEndpoint.patch("updatePackage")`/packages/${packagePath}`
      .setPayload(
        fields({
          identifier: Schema.optional(PackageIdentifier),
          package_type: Schema.optional(PackageType),
          product_identifier: Schema.optional(NamedProduct)
        })
      )
      .addSuccess(data(Package))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("catalog:write"))
      .annotate(OpenApi.Summary, "Change a package; absent fields keep their value")
  )
  .add(
    HttpApiEndpoint.del("deletePackage")`/packages/${packagePath}`
      .addSuccess(Deleted)
      .addError(NotFound.wire)
      .annotateContext(requires("catalog:write"))
      .annotate(OpenApi.Summary, "Delete a package")
  )
  .middleware(AccessTokenAuth) {}
