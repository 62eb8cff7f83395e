import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Either, JSONSchema, ParseResult, Schema } from "effect"
import { data, fields } from "../Envelope.ts"
import { BadRequest, Invalid, NotFound } from "../Problem.ts"
import { AccessTokenAuth, requires } from "../Security.ts"
import { App, AppFields, TenantHeader } from "./AppsGroup.ts"
import { Entitlement, EntitlementFields } from "./EntitlementsGroup.ts"
import { Offering, OfferingFields } from "./OfferingsGroup.ts"
import { PackageFields } from "./PackagesGroup.ts"
import { Product, ProductFields } from "./ProductsGroup.ts"

const isUuid = Schema.is(Schema.UUID)

const Uuid = Schema.String.pipe(
  Schema.filter((text) => isUuid(text) || "must be a uuid", { jsonSchema: { format: "uuid" } })
)

export const BootstrapApp = fields({
  ...AppFields,
  uuid: Schema.optional(Uuid).annotations({ description: "Names an existing app" }),
  slug: Schema.optional(Schema.String).annotations({ description: "Names an existing app when there is no `uuid`" })
})

export const BootstrapBody = fields({
  app: BootstrapApp,
  entitlements: Schema.optional(Schema.Array(EntitlementFields)),
  products: Schema.optional(Schema.Array(ProductFields)),
  offerings: Schema.optional(
    Schema.Array(fields({ ...OfferingFields, packages: Schema.optional(Schema.Array(PackageFields)) }))
  )
})

const decodeBody = ParseResult.decodeUnknownEither(BootstrapBody, { errors: "all" })

/** A request as it came, with what decoding made of it. */
export class BootstrapRequest {
  readonly raw: unknown
  readonly body: Either.Either<typeof BootstrapBody.Type, ParseResult.ParseIssue>

  constructor(raw: unknown) {
    this.raw = raw
    this.body = decodeBody(raw)
  }

  toJSON() {
    return Either.getOrElse(this.body, () => this.raw)
  }
}

const { $schema: _, ...bodyJsonSchema } = JSONSchema.make(BootstrapBody)

const example = {
  app: { name: "Notes", bundle_id: "com.example.notes", platforms: ["store_a"] },
  entitlements: [{ identifier: "pro", name: "Pro", product_identifiers: ["pro.monthly"] }],
  products: [
    {
      store: "store_a",
      identifier: "pro.monthly",
      name: "Pro, monthly",
      type: "subscription",
      subscription_period: "P1M",
      price: 9.99,
      currency: "USD"
    }
  ],
  offerings: [
    {
      identifier: "default",
      is_current: true,
      packages: [{ identifier: "monthly", package_type: "monthly", product_identifier: "pro.monthly" }]
    }
  ]
} satisfies typeof BootstrapBody.Encoded

/** Decoded without refusing: what names mean is judged together with the form, and all faults are told at once. */
const Judged = Schema.transform(
  Schema.Unknown.annotations({ jsonSchema: { ...bodyJsonSchema, examples: [example] } }),
  Schema.instanceOf(BootstrapRequest),
  { strict: true, decode: (raw) => new BootstrapRequest(raw), encode: ({ raw }) => raw }
)

const count = Schema.Int

export const Bootstrapped = Schema.Struct({
  app: App,
  entitlements: Schema.Array(Entitlement),
  products: Schema.Array(Product),
  offerings: Schema.Array(Offering),
  changes: Schema.Struct({ created: count, updated: count, unchanged: count }).annotations({
    description:
      "Counts the app and every record that the request names, packages too; other records that had to change (an entitlement that a product joins, the offering that was current) count as updated"
  })
})

export class BootstrapGroup extends HttpApiGroup.make("bootstrap")
  .add(
    HttpApiEndpoint.post("bootstrap", "/bootstrap")
      .setHeaders(TenantHeader)
      .setPayload(Judged)
      .addSuccess(data(Bootstrapped), { status: 201 })
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("catalog:write"))
      .annotate(OpenApi.Summary, "Create or change an app with its whole catalogue")
      .annotate(
        OpenApi.Description,
        [
          "One transaction: the whole request is carried out, or nothing of it, and every failing field is told at once.",
          "Records are matched by identifier (products by store and identifier, packages within their offering). Adds and changes, deletes nothing: products join entitlements and never leave them; absent fields of records that exist keep their value.",
          "The app is the one of `uuid`, else of `slug` (404 where they name none of the workspace), else the one with the same `bundle_id`, `package_name` or slug of `name`, in that order, in the workspace of `X-Tenant`; else it is created.",
          "Repeating a request changes nothing, `updated_at` included. The answer holds the records that the request names, in its order."
        ].join("\n\n")
      )
  )
  .middleware(AccessTokenAuth) {}
