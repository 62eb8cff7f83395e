import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { AppStatus, TransferBehavior } from "../../catalog/domain/App.ts"
import { StoreName } from "../../catalog/domain/Product.ts"
import { data, Deleted, fields, list, Name, Timestamp } from "../Envelope.ts"
import { cursor, limit } from "../Page.ts"
import { BadRequest, Conflict, Invalid, NotFound } from "../Problem.ts"
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
  transfer_behavior: TransferBehavior,
  created_at: Timestamp,
  updated_at: Timestamp
}).annotations({
  identifier: "App",
  examples: [
    {
      uuid: "019a9a41-33c8-7b9a-a1d4-0c8e5f2b7d61",
      tenant_uuid: "019a9a40-33c8-7b9a-a1d4-0c8e5f2b7d60",
      name: "Notes",
      slug: "notes",
      bundle_id: "com.example.notes",
      package_name: "com.example.notes",
      platforms: ["store_a", "store_b"],
      public_api_key: "app_pk_0Qx7Jr2mB5nT8vYc1Wd4Zf6Hk9Lp3Sg5",
      transfer_behavior: "transfer",
      status: "active",
      created_at: "2026-03-02T08:00:00.000Z",
      updated_at: "2026-03-02T08:00:00.000Z"
    }
  ]
})

export const appPath = HttpApiSchema.param("app", Schema.String)

/** The identifier under which a store knows the app. */
const StoreId = Schema.String.pipe(
  Schema.pattern(/^[\w.-]{1,255}$/, { message: () => "must consist of letters, digits and . _ -" })
)

export const AppFields = {
  name: Name.annotations({ examples: ["Notes"] }),
  bundle_id: Schema.optional(Schema.NullOr(StoreId)).annotations({ description: "In store A, `com.example.notes`" }),
  package_name: Schema.optional(Schema.NullOr(StoreId)).annotations({ description: "In store B" }),
  platforms: Schema.optional(Schema.Array(StoreName)),
  transfer_behavior: Schema.optional(TransferBehavior).annotations({
    description:
      "What becomes of a purchase that a second customer proves by a receipt: `transfer` (default) moves it there, `keep` refuses the receipt (409)"
  })
}

export const TenantHeader = fields({
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
      .setPayload(fields(AppFields))
      .addSuccess(data(App), { status: 201 })
      .addError(BadRequest.wire)
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
          ...AppFields,
          name: Schema.optional(Name),
          status: Schema.optional(AppStatus).annotations({
            description:
              "From any to any. `paused`: client endpoints answer 403, store notifications are still recorded. `archived`: client endpoints answer 403, store notifications 404, and lists hide the app."
          })
        })
      )
      .addSuccess(data(App))
      .addError(BadRequest.wire)
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
      .annotate(OpenApi.Description, "Tells the app's webhooks by `app.key_rotated`.")
  )
  .add(
    HttpApiEndpoint.del("deleteApp")`/apps/${appPath}`
      .setUrlParams(
        fields({
          confirm: Schema.optional(Schema.String).annotations({
            description: "The app's slug. Needed once the app has customers; a wrong one is refused in any case"
          })
        })
      )
      .addSuccess(Deleted)
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .annotateContext(requires("apps:write", "admin"))
      .annotate(OpenApi.Summary, "Delete an app with everything in it")
      .annotate(
        OpenApi.Description,
        "Catalogue, customers, purchases, events and webhooks go; deliveries that are still open are canceled. Needs the role admin."
      )
  )
  .middleware(AccessTokenAuth) {}
