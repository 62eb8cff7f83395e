import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Ability, Role } from "../../identity/domain/Ability.ts"
import { data, Deleted, fields, list, Moment, Name, Timestamp } from "../Envelope.ts"
import { PageQuery } from "../Page.ts"
import { BadRequest, Forbidden, Invalid, NotFound, TooMany, Unauthenticated } from "../Problem.ts"
import { repeatable } from "../Repeatable.ts"
import { AccessTokenAuth } from "../Security.ts"
import { Tenant } from "./TenantsGroup.ts"

const Email = Schema.Trim.pipe(
  Schema.pattern(/^[^\s@]+@[^\s@]+\.?[^\s@]+$/, { message: () => "must be an e-mail address" }),
  Schema.maxLength(254)
)

const Password = Schema.Redacted(
  Schema.String.pipe(Schema.minLength(8, { message: () => "must have at least 8 characters" }), Schema.maxLength(1024))
)

export const User = Schema.Struct({
  uuid: Schema.String,
  name: Schema.String,
  email: Schema.String,
  created_at: Timestamp
}).annotations({ identifier: "User" })

const Token = Schema.Struct({
  uuid: Schema.String,
  name: Schema.String,
  abilities: Schema.Array(Ability),
  created_at: Timestamp,
  expires_at: Schema.NullOr(Timestamp)
})

const secret = Schema.Redacted(Schema.String).annotations({ description: "Shown once" })

export class AuthGroup extends HttpApiGroup.make("auth")
  .add(
    HttpApiEndpoint.post("register", "/auth/register")
      .setPayload(fields({ name: Name, email: Email, password: Password, tenant_name: Schema.optional(Name) }))
      .addSuccess(data(Schema.Struct({ token: secret, user: User, tenant: Tenant })), { status: 201 })
      .addError(Forbidden.wire)
      .addError(Invalid.wire)
      .annotateContext(repeatable("leased"))
      .annotate(OpenApi.Summary, "Create a user with a workspace of its own")
  )
  .add(
    HttpApiEndpoint.post("login", "/auth/login")
      .setPayload(fields({ email: Schema.Trim, password: Schema.Redacted(Schema.String) }))
      .addSuccess(data(Schema.Struct({ token: secret, user: User, tenants: Schema.Array(Tenant) })))
      .addError(Unauthenticated.wire)
      .addError(Invalid.wire)
      .addError(TooMany.wire)
      .annotateContext(repeatable("never"))
      .annotate(OpenApi.Summary, "Exchange e-mail and password for a token")
  )
  .add(
    HttpApiEndpoint.get("me", "/auth/me")
      .addSuccess(
        data(
          Schema.Struct({
            ...User.fields,
            roles: Schema.Array(Schema.Struct({ tenant_uuid: Schema.String, role: Role })),
            tenants: Schema.Array(Tenant),
            abilities: Schema.Array(Ability)
          })
        )
      )
      .middleware(AccessTokenAuth)
      .annotate(OpenApi.Summary, "Show the current user, roles and workspaces")
  )
  .add(
    HttpApiEndpoint.post("createToken", "/auth/tokens")
      .setPayload(
        fields({
          name: Name,
          abilities: Schema.optionalWith(Schema.NonEmptyArray(Ability), { default: () => ["*"] as const }),
          expires_at: Schema.optionalWith(Schema.NullOr(Moment), { default: () => null })
        })
      )
      .addSuccess(data(Schema.Struct({ ...Token.fields, token: secret })), { status: 201 })
      .addError(Invalid.wire)
      .middleware(AccessTokenAuth)
      .annotate(OpenApi.Summary, "Create a personal access token")
  )
  .add(
    HttpApiEndpoint.get("listTokens", "/auth/tokens")
      .setUrlParams(PageQuery)
      .addSuccess(list(Token))
      .addError(BadRequest.wire)
      .middleware(AccessTokenAuth)
      .annotate(OpenApi.Summary, "List the user's tokens")
  )
  .add(
    HttpApiEndpoint.del("deleteToken")`/auth/tokens/${HttpApiSchema.param("token", Schema.String)}`
      .addSuccess(Deleted)
      .addError(NotFound.wire)
      .middleware(AccessTokenAuth)
      .annotate(OpenApi.Summary, "Revoke a token")
  )
  .add(
    HttpApiEndpoint.post("logout", "/auth/logout")
      .addSuccess(data(Schema.Struct({ revoked: Schema.Literal(true) })))
      .middleware(AccessTokenAuth)
      .annotateContext(repeatable("never"))
      .annotate(OpenApi.Summary, "Revoke the presented token")
  ) {}
