import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { AppStatus } from "../../catalog/domain/App.ts"
import { StoreName } from "../../catalog/domain/Product.ts"
import { data, fields, list, Name, Timestamp } from "../Envelope.ts"
import { cursor, limit } from "../Page.ts"
import { BadRequest, Invalid, NotFound } from "../Problem.ts"
import { AccessTokenAuth, requires } from "../Security.ts"

export const App = Schema.Struct({
  uuid: Schema.String,
  tenant_uuid: Schema.String,
  name: Schema.String,
  slug: Schema.String,
  bundle_id: Schema.NullOr(Schema.String),
  package_name: Schema.NullOr(Schema.String),
  platforms: Schema.Array(StoreName),
  public_api_key: Schema.String.annotations({ description: "Key of the mobile SDK, `app_pk_…`; public by design" }),
  status: AppStatus,
  created_at: Timestamp,
  updated_at: Timestamp
}).annotations({ identifier: "App" })

export const appPath = HttpApiSchema.param("app", Schema.String)

const StoreId = Schema.String.pipe(
  Schema.pattern(/^[\w.-]{1,255}$/, { message: () => "must consist of letters, digits and . _ -" })
)

const TenantHeader = fields({
  "x-tenant": Schema.optional(Schema.String).annotations({ description: "Workspace by slug or uuid" })
})

export class AppsGroup extends HttpApiGroup.make("apps")
  .add(
    HttpApiEndpoint.get("listApps", "/apps")
      .setHeaders(TenantHeader)
      .setUrlParams(fields({ limit, cursor, status: Schema.optional(AppStatus) }))
      .addSuccess(list(App))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("apps:read"))
      .annotate(OpenApi.Summary, "List apps of the workspace; archived ones only by `status=archived`")
  )
  .add(
    HttpApiEndpoint.post("createApp", "/apps")
      .setHeaders(TenantHeader)
      .setPayload(
        fields({
          name: Name,
          bundle_id: Schema.optional(Schema.NullOr(StoreId)),
          package_name: Schema.optional(Schema.NullOr(StoreId)),
          platforms: Schema.optional(Schema.Array(StoreName))
        })
      )
      .addSuccess(data(App), { status: 201 })
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("apps:write"))
      .annotate(OpenApi.Summary, "Create an app")
  )
  .add(
    HttpApiEndpoint.get("getApp")`/apps/${appPath}`
      .addSuccess(data(App))
      .addError(NotFound.wire)
      .annotateContext(requires("apps:read"))
      .annotate(OpenApi.Summary, "Show an app")
  )
  .add(
    HttpApiEndpoint.patch("updateApp")`/apps/${appPath}`
      .setPayload(
        fields({
          name: Schema.optional(Name),
          bundle_id: Schema.optional(Schema.NullOr(StoreId)),
          package_name: Schema.optional(Schema.NullOr(StoreId)),
          platforms: Schema.optional(Schema.Array(StoreName)),
          status: Schema.optional(AppStatus)
        })
      )
      .addSuccess(data(App))
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("apps:write"))
      .annotate(OpenApi.Summary, "Change an app; absent fields keep their value, null clears")
  )
  .add(
    HttpApiEndpoint.post("rotateKey")`/apps/${appPath}/rotate-key`
      .addSuccess(data(App))
      .addError(NotFound.wire)
      .annotateContext(requires("apps:write"))
      .annotate(OpenApi.Summary, "Replace the public key; the old one stops at once")
  )
  .middleware(AccessTokenAuth) {}
