import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { AiLogStatus } from "../../reply/domain/AiLog.ts"
import { ChatMode } from "../../reply/domain/AiSettings.ts"
import { data, fields, list, Timestamp } from "../Envelope.ts"
import { cursor, limit } from "../Page.ts"
import { BadRequest, Invalid, NotFound } from "../Problem.ts"
import { OperatorAuth } from "../Security.ts"
import { accountPath } from "./AccountsGroup.ts"
import { chatPath } from "./MessagesGroup.ts"

const nullable = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))

const BaseUrl = Schema.String.pipe(
  Schema.maxLength(2048),
  Schema.filter((url) => (URL.canParse(url) && /^https?:/i.test(url)) || "must be an http or https URL")
)
const prompt = Schema.String.pipe(Schema.maxLength(20_000))
const ApiKey = Schema.Redacted(Schema.String.pipe(Schema.minLength(1), Schema.maxLength(1024)))

const settingFields = {
  enabled: nullable(Schema.Boolean),
  base_url: nullable(BaseUrl),
  api_key: nullable(ApiKey),
  model_name: nullable(Schema.String.pipe(Schema.minLength(1), Schema.maxLength(200))),
  temperature: nullable(Schema.Number.pipe(Schema.between(0, 2))),
  max_tokens: nullable(Schema.Int.pipe(Schema.between(1, 32_768))),
  timeout_seconds: nullable(Schema.Int.pipe(Schema.between(1, 120))),
  reply_delay_seconds: nullable(Schema.Number.pipe(Schema.between(0, 300))),
  reply_to_private: nullable(Schema.Boolean),
  reply_to_groups: nullable(Schema.Boolean),
  reply_to_channels: nullable(Schema.Boolean),
  echo_mode: nullable(Schema.Boolean)
}

const storedFields = {
  enabled: Schema.NullOr(Schema.Boolean),
  base_url: Schema.NullOr(Schema.String),
  has_api_key: Schema.Boolean,
  model_name: Schema.NullOr(Schema.String),
  temperature: Schema.NullOr(Schema.Number),
  max_tokens: Schema.NullOr(Schema.Int),
  timeout_seconds: Schema.NullOr(Schema.Int),
  reply_delay_seconds: Schema.NullOr(Schema.Number),
  reply_to_private: Schema.NullOr(Schema.Boolean),
  reply_to_groups: Schema.NullOr(Schema.Boolean),
  reply_to_channels: Schema.NullOr(Schema.Boolean),
  echo_mode: Schema.NullOr(Schema.Boolean)
}

const GlobalSettings = data(
  Schema.Struct({ ...storedFields, default_system_prompt: Schema.NullOr(Schema.String) }).annotations({
    identifier: "AiGlobalSettings",
    examples: [
      {
        enabled: true,
        base_url: "https://provider.example/v1",
        has_api_key: true,
        model_name: "small-1",
        temperature: 0.4,
        max_tokens: 500,
        timeout_seconds: 30,
        reply_delay_seconds: 2,
        reply_to_private: true,
        reply_to_groups: false,
        reply_to_channels: false,
        echo_mode: false,
        default_system_prompt: "You answer for a shop."
      }
    ]
  })
)

const AccountSettings = data(
  Schema.Struct({
    ...storedFields,
    system_prompt: Schema.NullOr(Schema.String),
    business_knowledge: Schema.NullOr(Schema.String)
  }).annotations({
    identifier: "AiAccountSettings",
    examples: [
      {
        enabled: true,
        base_url: "https://provider.example/v1",
        has_api_key: true,
        model_name: "small-1",
        temperature: 0.4,
        max_tokens: 500,
        timeout_seconds: 30,
        reply_delay_seconds: 2,
        reply_to_private: true,
        reply_to_groups: false,
        reply_to_channels: false,
        echo_mode: false,
        system_prompt: null,
        business_knowledge: "Open 9 to 18."
      }
    ]
  })
)

const ChatSettings = data(Schema.Struct({ mode: ChatMode, custom_system_prompt: Schema.NullOr(Schema.String) }))

/** The record of one reply, whatever became of it. */
export const AiLog = Schema.Struct({
  id: Schema.String,
  account_id: Schema.String,
  chat_id: Schema.String,
  message_id: Schema.String,
  reply_message_id: Schema.NullOr(Schema.String),
  status: AiLogStatus,
  reason: Schema.NullOr(Schema.String),
  model_name: Schema.NullOr(Schema.String),
  prompt_tokens: Schema.NullOr(Schema.Int),
  completion_tokens: Schema.NullOr(Schema.Int),
  latency_ms: Schema.NullOr(Schema.Int),
  reply: Schema.NullOr(Schema.String),
  created_at: Timestamp
}).annotations({
  identifier: "AiLog",
  examples: [
    {
      id: "019a9a49-33c8-7b9a-a1d4-0c8e5f2b7d69",
      account_id: "019a9a4e-33c8-7b9a-a1d4-0c8e5f2b7d6e",
      chat_id: "pb:340282366841710300949128137443944311111",
      message_id: "019a9a4f-33c8-7b9a-a1d4-0c8e5f2b7d6f",
      reply_message_id: "019a9a4c-33c8-7b9a-a1d4-0c8e5f2b7d6c",
      status: "sent",
      reason: null,
      model_name: "small-1",
      prompt_tokens: 120,
      completion_tokens: 18,
      latency_ms: 840,
      reply: "Yes, from 10 to 16.",
      created_at: "2026-03-02T08:00:00.000Z"
    }
  ]
})

export class AiGroup extends HttpApiGroup.make("ai")
  .add(
    HttpApiEndpoint.get("getGlobalAi", "/ai/global")
      .addSuccess(GlobalSettings)
      .annotate(OpenApi.Summary, "Show the AI configuration of all accounts")
  )
  .add(
    HttpApiEndpoint.put("putGlobalAi", "/ai/global")
      .setPayload(fields({ ...settingFields, default_system_prompt: nullable(prompt) }))
      .addSuccess(GlobalSettings)
      .addError(Invalid.wire)
      .annotate(OpenApi.Summary, "Set the AI configuration; without `api_key` the key stays, null deletes it")
  )
  .add(
    HttpApiEndpoint.get("getAccountAi")`/accounts/${accountPath}/ai`
      .addSuccess(AccountSettings)
      .addError(NotFound.wire)
      .annotate(OpenApi.Summary, "Show an account's overrides; null inherits")
  )
  .add(
    HttpApiEndpoint.put("putAccountAi")`/accounts/${accountPath}/ai`
      .setPayload(
        fields({
          ...settingFields,
          system_prompt: nullable(prompt),
          business_knowledge: nullable(Schema.String.pipe(Schema.maxLength(50_000)))
        })
      )
      .addSuccess(AccountSettings)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotate(OpenApi.Summary, "Set an account's overrides")
  )
  .add(
    HttpApiEndpoint.put("putChatAi")`/accounts/${accountPath}/chats/${chatPath}/ai`
      .setPayload(fields({ mode: ChatMode, custom_system_prompt: Schema.optional(Schema.NullOr(prompt)) }))
      .addSuccess(ChatSettings)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotate(OpenApi.Summary, "Set a chat's AI mode and prompt")
  )
  .add(
    HttpApiEndpoint.get("listAiLogs", "/ai/logs")
      .setUrlParams(
        fields({
          limit,
          cursor,
          account_id: Schema.optional(Schema.UUID),
          chat_id: Schema.optional(Schema.String),
          status: Schema.optional(AiLogStatus)
        })
      )
      .addSuccess(list(AiLog))
      .addError(BadRequest.wire)
      .addError(Invalid.wire)
      .annotate(OpenApi.Summary, "List AI replies, with the reason of those that were not sent")
  )
  .middleware(OperatorAuth) {}
