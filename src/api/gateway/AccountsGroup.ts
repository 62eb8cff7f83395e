import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { ChannelStatus } from "../../channel/domain/Channel.ts"
import { Pacing } from "../../channel/domain/Pacing.ts"
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
  paused_until: Schema.NullOr(Timestamp).annotations({
    description: "Neither polls nor sends before: the platform asked to slow down (`last_error` says `rate_limited`)"
  }),
  frozen_until: Schema.NullOr(Timestamp).annotations({
    description: "Sends nothing before: the platform blocked sending as an action (`last_error` says `action_blocked`)"
  }),
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
      paused_until: null,
      frozen_until: null,
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

const LinkState = data(
  Schema.Struct({
    status: ChannelStatus,
    username: Schema.NullOr(Schema.String),
    last_error: Schema.NullOr(Schema.String),
    qr: Schema.optional(Schema.String).annotations({ description: "What to show as a QR code, of platform_a" }),
    qr_expires_at: Schema.optional(Timestamp),
    pairing_code: Schema.optional(Schema.String).annotations({
      description: "What to type on the phone, of platform_a"
    }),
    pairing_code_expires_at: Schema.optional(Timestamp)
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

const NewToken = data(
  Schema.Struct({
    id: Schema.String,
    token: Schema.Redacted(Schema.String).annotations({ description: "Per-channel API token, shown once" })
  })
)

/** How fast a channel may send; a null cap is none. */
const PacingView = Pacing.annotations({
  identifier: "Pacing",
  examples: [{ gap_seconds: [2, 5], per_minute: 10, per_hour: 100, per_day: 500, new_chats_per_day: 10 }]
})

export const accountPath = HttpApiSchema.param("id", Schema.String)

const Password = Schema.Redacted(Schema.String.pipe(Schema.minLength(1), Schema.maxLength(1024)))
const Username = Schema.Trim.pipe(Schema.minLength(1), Schema.maxLength(255))
const Code = Schema.Redacted(
  Schema.Trim.pipe(Schema.pattern(/^[\d ]{4,12}$/, { message: () => "must be the digits of the code" }))
)

const ImportedSession = Schema.Redacted(Schema.Trim.pipe(Schema.minLength(1), Schema.maxLength(4096)))

const PhoneNumber = Schema.Trim.pipe(
  Schema.pattern(/^\+?\d{7,15}$/, { message: () => "must be a phone number with its country code" })
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
        fields({
          username: Schema.optional(Username),
          password: Schema.optional(Password),
          verification_code: Schema.optional(Code),
          session: Schema.optional(ImportedSession),
          phone_number: Schema.optional(PhoneNumber)
        })
          .pipe(
            Schema.filter(
              ({ password, username }) =>
                (username === undefined) === (password === undefined) || {
                  path: [username === undefined ? "username" : "password"],
                  message: "is missing"
                },
              { jsonSchema: {} }
            )
          )
          .annotations({
            description:
              "platform_b: `username` and `password`, with `verification_code` in the second step when a second factor is asked for; without them a disconnected channel goes on with the session that it kept. Three logins by password within an hour without a success, and the next is 429; so it is with wrong codes. Where the platform wants to see a person, he logs in himself, and `session` is what he then has: the `sessionid` cookie of the web, or the app's `Authorization` header. platform_a: nothing, for a QR code to scan, or `phone_number`, for a pairing code to type on that phone."
          })
      )
      .addSuccess(LinkState)
      .addError(Unauthenticated.wire)
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .addError(Invalid.wire)
      .addError(TooMany.wire)
      .addError(BadGateway.wire)
      .addError(Unavailable.wire)
      .annotateContext(repeatable("never"))
      .annotate(
        OpenApi.Summary,
        "Connect a channel: platform_b by its credentials, which are used once and stored nowhere, platform_a by its phone"
      )
  )
  .add(
    HttpApiEndpoint.get("showQr")`/accounts/${accountPath}/qr`
      .addSuccess(LinkState)
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .annotate(OpenApi.Summary, "Show the QR or pairing code of the moment; a PNG with `Accept: image/png`")
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
      .annotate(
        OpenApi.Summary,
        "Submit the code of a security checkpoint; after three wrong ones within an hour the next is 429"
      )
  )
  .add(
    HttpApiEndpoint.post("disconnectAccount")`/accounts/${accountPath}/disconnect`
      .addSuccess(ConnectionState)
      .addError(NotFound.wire)
      .annotateContext(repeatable("never"))
      .annotate(OpenApi.Summary, "Stop a channel and keep its session")
  )
  .add(
    HttpApiEndpoint.post("logoutAccount")`/accounts/${accountPath}/logout`
      .addSuccess(ConnectionState)
      .addError(NotFound.wire)
      .annotateContext(repeatable("never"))
      .annotate(OpenApi.Summary, "Stop a channel and destroy its session")
      .annotate(
        OpenApi.Description,
        "platform_a takes back the link as well; when it does not answer within 8 seconds, the session is destroyed all the same, and the phone lists the device until its owner removes it there."
      )
  )
  .add(
    HttpApiEndpoint.post("rotateToken")`/accounts/${accountPath}/rotate-token`
      .addSuccess(NewToken)
      .addError(NotFound.wire)
      .annotate(OpenApi.Summary, "Replace the channel's API token; the one before stops at once")
  )
  .add(
    HttpApiEndpoint.get("getPacing")`/accounts/${accountPath}/pacing`
      .addSuccess(data(PacingView))
      .addError(NotFound.wire)
      .annotate(OpenApi.Summary, "Show how fast a channel may send")
  )
  .add(
    HttpApiEndpoint.put("putPacing")`/accounts/${accountPath}/pacing`
      .setPayload(Pacing.annotations({ parseOptions: { errors: "all" } }))
      .addSuccess(data(PacingView))
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotate(OpenApi.Summary, "Set how fast a channel may send")
      .annotate(
        OpenApi.Description,
        "Holds from the next send on. Over a cap a message stays `queued` with `not_before`; it is never dropped. Replies in chats that the other side opened do not count as new chats."
      )
  )
  .middleware(OperatorAuth) {}
