import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "@effect/platform"
import { Context, Schema } from "effect"
import type { AppId, AppStatus } from "../catalog/domain/App.ts"
import type { ChannelId } from "../channel/domain/Channel.ts"
import type { Ability, Role } from "../identity/domain/Ability.ts"
import type { Caller, Requirement, UserId } from "../identity/domain/User.ts"
import { Forbidden, Unauthenticated } from "./Problem.ts"

/** Declared once per management endpoint: middleware enforces it and the reference shows it. */
export class Requires extends Context.Tag("gatehouse/api/Requires")<Requires, Requirement>() {}

/** Annotations of an endpoint that needs an ability and, in the tenant concerned, at least a role. */
export const requires = (
  ability: Exclude<Ability, "*">,
  role: Role = ability.endsWith(":read") ? "viewer" : "member"
): Context.Context<Requires> => Context.make(Requires, { ability, role })

export class CurrentCaller extends Context.Tag("gatehouse/api/CurrentCaller")<CurrentCaller, Caller>() {}

const refusals = Schema.Union(Unauthenticated.wire, Forbidden.wire)

/** Management API: a personal access token (subscription management, part 5). */
export class AccessTokenAuth extends HttpApiMiddleware.Tag<AccessTokenAuth>()("gatehouse/api/AccessTokenAuth", {
  failure: refusals,
  provides: CurrentCaller,
  security: {
    accessToken: HttpApiSecurity.bearer.pipe(
      HttpApiSecurity.annotate(OpenApi.Description, "Personal access token, `gh_pat_…`")
    )
  }
}) {}

/** The app whose public key a client presents. */
export interface ClientApp {
  readonly id: AppId
  readonly status: AppStatus
}

export class CurrentApp extends Context.Tag("gatehouse/api/CurrentApp")<CurrentApp, ClientApp>() {}

/** Client API: an app's public key. */
export class AppKeyAuth extends HttpApiMiddleware.Tag<AppKeyAuth>()("gatehouse/api/AppKeyAuth", {
  failure: refusals,
  provides: CurrentApp,
  security: {
    appPublicKey: HttpApiSecurity.bearer.pipe(
      HttpApiSecurity.annotate(OpenApi.Description, "An app's `public_api_key`, `app_pk_…`")
    )
  }
}) {}

export interface Operator {
  readonly userId: UserId
  readonly tokenId: string
}

export class CurrentOperator extends Context.Tag("gatehouse/api/CurrentOperator")<CurrentOperator, Operator>() {}

/** Gateway administration: an operator's JWT (gateway specification, part 5). */
export class OperatorAuth extends HttpApiMiddleware.Tag<OperatorAuth>()("gatehouse/api/OperatorAuth", {
  failure: refusals,
  provides: CurrentOperator,
  security: {
    operatorToken: HttpApiSecurity.bearer.pipe(
      HttpApiSecurity.annotate(OpenApi.Description, "Operator JWT from `POST /v1/auth/login`, 12 hours")
    )
  }
}) {}

export class CurrentChannel extends Context.Tag("gatehouse/api/CurrentChannel")<
  CurrentChannel,
  { readonly id: ChannelId }
>() {}

/** Gateway messages: a channel's own token. */
export class ChannelTokenAuth extends HttpApiMiddleware.Tag<ChannelTokenAuth>()("gatehouse/api/ChannelTokenAuth", {
  failure: refusals,
  provides: CurrentChannel,
  security: {
    channelToken: HttpApiSecurity.bearer.pipe(
      HttpApiSecurity.annotate(OpenApi.Description, "Per-channel API token, `gh_ch_…`")
    )
  }
}) {}
