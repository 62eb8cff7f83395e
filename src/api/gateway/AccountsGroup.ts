import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { ChannelStatus } from "../../channel/domain/Channel.ts"
import { PlatformName } from "../../platform/domain/PlatformEvent.ts"
import { data, fields, list, Name, Timestamp } from "../Envelope.ts"
import { PageQuery } from "../Page.ts"
import {
  BadGateway,
  BadRequest,
  Conflict,
  Invalid,
  NotFound,
  TooMany,
  Unauthenticated,
  Unavailable
} from "../Problem.ts"
import { repeatable } from "../Repeatable.ts"
import { OperatorAuth } from "../Security.ts"

/** A chat channel; its session is stored sealed and never returned. */
export const Account = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  platform: PlatformName,
  status: ChannelStatus,
  username: Schema.NullOr(Schema.String),
  last_error: Schema.NullOr(Schema.String),
  connected_at: Schema.NullOr(Timestamp),
  last_synced_at: Schema.NullOr(Timestamp),
  created_at: Timestamp
}).annotations({
  identifier: "Account",
  examples: [
    {
      id: "019a9a4e-33c8-7b9a-a1d4-0c8e5f2b7d6e",
      name: "Shop",
      platform: "platform_b",
      status: "connected",
      username: "shop",
      last_error: null,
      connected_at: "2026-03-02T08:00:00.000Z",
      last_synced_at: "2026-04-02T08:00:00.000Z",
      created_at: "2026-03-02T08:00:00.000Z"
    }
  ]
})

const ConnectionState = data(
  Schema.Struct({
    status: ChannelStatus,
    username: Schema.NullOr(Schema.String),
    last_error: Schema.NullOr(Schema.String)
  })
)

const AccountWithToken = data(
  Schema.Struct({
    id: Schema.String,
    name: Schema.String,
    platform: PlatformName,
    status: ChannelStatus,
    token: Schema.Redacted(Schema.String).annotations({ description: "Per-channel API token, shown once" }),
    created_at: Timestamp
  })
)

export const accountPath = HttpApiSchema.param("id", Schema.String)

const Password = Schema.Redacted(Schema.String.pipe(Schema.minLength(1), Schema.maxLength(1024)))
const Username = Schema.Trim.pipe(Schema.minLength(1), Schema.maxLength(255))
const Code = Schema.Redacted(
  Schema.Trim.pipe(Schema.pattern(/^[\d ]{4,12}$/, { message: () => "must be the digits of the code" }))
)

export class AccountsGroup extends HttpApiGroup.make("accounts")
  .add(
    HttpApiEndpoint.post("createAccount", "/accounts")
      .setPayload(
        fields({ name: Name, platform: Schema.optionalWith(PlatformName, { default: () => "platform_a" as const }) })
      )
      .addSuccess(AccountWithToken, { status: 201 })
      .addError(Invalid.wire)
      .annotate(OpenApi.Summary, "Create a channel; answers its API token once")
  )
  .add(
    HttpApiEndpoint.get("listAccounts", "/accounts")
      .setUrlParams(PageQuery)
      .addSuccess(list(Account))
      .addError(BadRequest.wire)
      .addError(Invalid.wire)
      .annotate(OpenApi.Summary, "List channels")
  )
  .add(
    HttpApiEndpoint.get("getAccount")`/accounts/${accountPath}`
      .addSuccess(data(Account))
      .addError(NotFound.wire)
      .annotate(OpenApi.Summary, "Show a channel")
  )
  .add(
    HttpApiEndpoint.patch("updateAccount")`/accounts/${accountPath}`
      .setPayload(fields({ name: Schema.optional(Name) }))
      .addSuccess(data(Account))
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotate(OpenApi.Summary, "Rename a channel")
  )
  .add(
    HttpApiEndpoint.del("deleteAccount")`/accounts/${accountPath}`
      .addSuccess(data(Schema.Struct({ uuid: Schema.String, deleted: Schema.Literal(true) })))
      .addError(NotFound.wire)
      .annotate(OpenApi.Summary, "Remove a channel with all that it stored")
  )
  .add(
    HttpApiEndpoint.post("connectAccount")`/accounts/${accountPath}/connect`
      .setPayload(
        fields({ username: Username, password: Password, verification_code: Schema.optional(Code) }).annotations({
          description: "`verification_code` in the second step, when a second factor is asked for"
        })
      )
      .addSuccess(ConnectionState)
      .addError(Unauthenticated.wire)
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .addError(Invalid.wire)
      .addError(TooMany.wire)
      .addError(BadGateway.wire)
      .addError(Unavailable.wire)
      .annotate(
        OpenApi.Summary,
        "Connect a platform_b channel by its credentials, which are used once and stored nowhere"
      )
  )
  .add(
    HttpApiEndpoint.post("answerChallenge")`/accounts/${accountPath}/pb/challenge`
      .setPayload(fields({ username: Username, password: Password, code: Code }))
      .addSuccess(ConnectionState)
      .addError(Unauthenticated.wire)
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .addError(Invalid.wire)
      .addError(TooMany.wire)
      .addError(BadGateway.wire)
      .addError(Unavailable.wire)
      .annotateContext(repeatable("never"))
      .annotateContext(repeatable("never"))
      .annotate(OpenApi.Summary, "Submit the code of a security checkpoint")
  )
  .add(
    HttpApiEndpoint.post("disconnectAccount")`/accounts/${accountPath}/disconnect`
      .addSuccess(ConnectionState)
      .addError(NotFound.wire)
      .annotateContext(repeatable("never"))
      .annotate(OpenApi.Summary, "Stop a channel and keep its session")
  )
  .middleware(OperatorAuth) {}
