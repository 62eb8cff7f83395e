import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { fields, Key, list, Timestamp } from "../Envelope.ts"
import { cursor, limit } from "../Page.ts"
import { BadRequest, Invalid, NotFound } from "../Problem.ts"
import { AccessTokenAuth, requires } from "../Security.ts"
import { tenantPath } from "./TenantsGroup.ts"

const exact = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  Schema.optionalWith(schema.annotations({ description }), { exact: true })

export const AuditEntry = Schema.Struct({
  uuid: Schema.String,
  operation: Schema.String.annotations({ description: "`operationId` in this reference" }),
  record_uuid: Schema.NullOr(Schema.String).annotations({
    description: "The record that was made, changed or deleted; null where the operation concerns several"
  }),
  path: Schema.Record({ key: Schema.String, value: Schema.String }).annotations({
    description: "The parameters of the path by name, but for what names a customer"
  }),
  changes: Schema.Unknown.annotations({ description: "The body as it was understood, secrets as `<redacted>`" }),
  user_uuid: Schema.String,
  user_name: Schema.NullOr(Schema.String).annotations({ description: "Null once the user is gone" }),
  token_uuid: Schema.String.annotations({ description: "The token that was presented" }),
  address: Schema.NullOr(Schema.String).annotations({ description: "The caller's network address" }),
  request_id: Schema.String.annotations({ description: "`X-Request-Id` of the answer" }),
  created_at: Timestamp
}).annotations({
  identifier: "AuditEntry",
  examples: [
    {
      uuid: "019a9a41-33c8-7b9a-a1d4-0c8e5f2b7d60",
      operation: "products.updateProduct",
      record_uuid: "019a9a40-8f1c-7c3e-9d54-5b8a1c0e7f11",
      path: { product: "019a9a40-8f1c-7c3e-9d54-5b8a1c0e7f11" },
      changes: { name: "Pro" },
      user_uuid: "019a9a3f-0a2b-7d4c-8e6f-1a2b3c4d5e6f",
      user_name: "Ann",
      token_uuid: "019a9a3f-0a2c-7e1d-9f70-2b3c4d5e6f70",
      address: "203.0.113.7",
      request_id: "019a9a41-33c7-7a10-8b21-3c4d5e6f7081",
      created_at: "2026-03-02T08:00:00.000Z"
    }
  ]
})

export class AuditGroup extends HttpApiGroup.make("audit")
  .add(
    HttpApiEndpoint.get("listAuditLog")`/tenants/${tenantPath}/audit-log`
      .setUrlParams(
        fields({
          user_uuid: exact(Schema.UUID, "Only what this user did"),
          record_uuid: exact(Key, "Only what was done to this record"),
          operation: exact(Key, "Only this `operationId`"),
          limit,
          cursor
        })
      )
      .addSuccess(list(AuditEntry))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("tenants:read", "admin"))
      .annotate(OpenApi.Summary, "Show who changed what in a workspace")
      .annotate(
        OpenApi.Description,
        "Every successful change by a member, newest first, written in the transaction of the change. Reads and refused " +
          "calls are not in it."
      )
  )
  .middleware(AccessTokenAuth) {}
