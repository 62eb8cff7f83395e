import { Schema } from "effect"
import { AiLogStatus } from "../../reply/domain/AiLog.ts"
import { ChatMode, LayerName } from "../../reply/domain/AiSettings.ts"
import { SkipReason } from "../../reply/domain/Eligibility.ts"
import { data, fields, Timestamp, whole } from "../Envelope.ts"
import { Message } from "./MessagesGroup.ts"

const nullable = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))

const BaseUrl = whole(
  Schema.String.pipe(
    Schema.maxLength(2048),
    Schema.filter((url) => (URL.canParse(url) && /^https?:/i.test(url)) || "must be an http or https URL")
  )
)
export const prompt = whole(Schema.String.pipe(Schema.maxLength(20_000)))
const ApiKey = Schema.Redacted(Schema.String.pipe(Schema.minLength(1), Schema.maxLength(1024)))

const settingFields = {
  enabled: nullable(Schema.Boolean),
  base_url: nullable(BaseUrl),
  api_key: nullable(ApiKey),
  model_name: nullable(whole(Schema.String.pipe(Schema.minLength(1), Schema.maxLength(200)))),
  temperature: nullable(Schema.Number.pipe(Schema.between(0, 2))),
  max_tokens: nullable(Schema.Int.pipe(Schema.between(1, 32_768))),
  timeout_seconds: nullable(Schema.Int.pipe(Schema.between(1, 120))),
  reply_delay_seconds: nullable(Schema.Number.pipe(Schema.between(0, 300))),
  reply_to_private: nullable(Schema.Boolean),
  reply_to_groups: nullable(Schema.Boolean),
  reply_to_channels: nullable(Schema.Boolean),
  echo_mode: nullable(Schema.Boolean).annotations({
    description: "The reply is the incoming text; no provider is called and no key is needed"
  })
}

const keyword = whole(Schema.Trim.pipe(Schema.minLength(1), Schema.maxLength(100)))
const address = whole(Schema.Trim.pipe(Schema.minLength(1), Schema.maxLength(255)))
const knowledge = whole(Schema.String.pipe(Schema.maxLength(50_000)))

const ManagerAlerts = Schema.Struct({
  enabled: Schema.Boolean,
  to: address.annotations({
    description:
      "Who is told, by this channel: an address as `POST /v1/messages/text` takes it. About one chat at most one alert " +
      "for a keyword and one for a person asked for in 15 minutes; the next alert says how many were held back"
  }),
  keywords: Schema.Array(keyword)
    .pipe(Schema.maxItems(100))
    .annotations({ description: "Words of a customer that alert, whatever their case" })
}).annotations({ identifier: "ManagerAlerts", examples: [{ enabled: true, to: "pbuser:owner", keywords: ["refund"] }] })

/** What a put of all accounts' configuration may name. */
export const globalFields = fields({ ...settingFields, default_system_prompt: nullable(prompt) })

/** What a put of an account's overrides may name. */
export const accountFields = fields({
  ...settingFields,
  system_prompt: nullable(prompt),
  business_knowledge: nullable(knowledge),
  manager_alerts: nullable(ManagerAlerts),
  debounce_seconds: nullable(Schema.Number.pipe(Schema.between(0, 60))).annotations({
    description: "One reply for a burst of messages, so long after the last of them; 0: a reply for each"
  }),
  human_takeover_minutes: nullable(Schema.Number.pipe(Schema.between(0, 1440))).annotations({
    description: "For so long after a person wrote in a chat on the platform's own app the AI is silent there; 0: off"
  })
})

/** What a put of a chat's mode may name. */
export const chatFields = fields({ mode: ChatMode, custom_system_prompt: Schema.optional(Schema.NullOr(prompt)) })

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

const storedExample = {
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
  echo_mode: false
}

export const GlobalSettings = data(
  Schema.Struct({ ...storedFields, default_system_prompt: Schema.NullOr(Schema.String) }).annotations({
    identifier: "AiGlobalSettings",
    examples: [
      {
        ...storedExample,
        default_system_prompt: "You answer for a shop."
      }
    ]
  })
)

export const AccountSettings = data(
  Schema.Struct({
    ...storedFields,
    system_prompt: Schema.NullOr(Schema.String),
    business_knowledge: Schema.NullOr(Schema.String),
    manager_alerts: Schema.NullOr(ManagerAlerts),
    debounce_seconds: Schema.NullOr(Schema.Number),
    human_takeover_minutes: Schema.NullOr(Schema.Number)
  }).annotations({
    identifier: "AiAccountSettings",
    examples: [
      {
        ...storedExample,
        system_prompt: null,
        business_knowledge: "Open 9 to 18.",
        manager_alerts: { enabled: true, to: "pbuser:owner", keywords: ["refund"] },
        debounce_seconds: 5,
        human_takeover_minutes: 60
      }
    ]
  })
)

export const ChatSettings = data(
  Schema.Struct({ mode: ChatMode, custom_system_prompt: Schema.NullOr(Schema.String) }).annotations({
    identifier: "AiChatSettings",
    examples: [{ mode: "inherit", custom_system_prompt: null }]
  })
)

const sourced = <A, I>(value: Schema.Schema<A, I>) => Schema.Struct({ value, layer: LayerName })

/** What is in force for a chat, and the layer that each value comes from. */
export const EffectiveSettings = data(
  Schema.Struct({
    enabled: Schema.Struct({
      global: Schema.Boolean,
      account: Schema.Boolean,
      chat: Schema.Boolean,
      effective: Schema.Boolean.annotations({ description: "All three say yes" })
    }),
    base_url: sourced(Schema.String),
    has_api_key: sourced(Schema.Boolean),
    model_name: sourced(Schema.String),
    system_prompt: sourced(Schema.String),
    business_knowledge: sourced(Schema.String),
    temperature: sourced(Schema.NullOr(Schema.Number)),
    max_tokens: sourced(Schema.NullOr(Schema.Int)),
    timeout_seconds: sourced(Schema.Number),
    reply_delay_seconds: sourced(Schema.Number),
    reply_to_private: sourced(Schema.Boolean),
    reply_to_groups: sourced(Schema.Boolean),
    reply_to_channels: sourced(Schema.Boolean),
    echo_mode: sourced(Schema.Boolean),
    manager_alerts: sourced(
      Schema.typeSchema(
        Schema.Struct({ enabled: Schema.Boolean, to: Schema.String, keywords: Schema.Array(Schema.String) })
      )
    ),
    debounce_seconds: sourced(Schema.Number),
    human_takeover_minutes: sourced(Schema.Number)
  }).annotations({
    identifier: "AiEffectiveSettings",
    examples: [
      {
        enabled: { global: true, account: true, chat: true, effective: true },
        base_url: { value: "https://provider.example/v1", layer: "global" },
        has_api_key: { value: true, layer: "environment" },
        model_name: { value: "small-1", layer: "account" },
        system_prompt: { value: "You answer for a shop.", layer: "chat" },
        business_knowledge: { value: "Open 9 to 18.", layer: "account" },
        temperature: { value: null, layer: "default" },
        max_tokens: { value: 500, layer: "global" },
        timeout_seconds: { value: 30, layer: "default" },
        reply_delay_seconds: { value: 2, layer: "default" },
        reply_to_private: { value: true, layer: "default" },
        reply_to_groups: { value: false, layer: "default" },
        reply_to_channels: { value: false, layer: "default" },
        echo_mode: { value: false, layer: "default" },
        manager_alerts: { value: { enabled: false, to: "", keywords: [] }, layer: "default" },
        debounce_seconds: { value: 0, layer: "default" },
        human_takeover_minutes: { value: 60, layer: "account" }
      }
    ]
  })
)

/** The record of one reply, whatever became of it. */
export const AiLog = Schema.Struct({
  id: Schema.String,
  account_id: Schema.String,
  chat_id: Schema.String,
  message_id: Schema.String,
  reply_message_id: Schema.NullOr(Schema.String),
  status: AiLogStatus,
  reason: Schema.NullOr(Schema.String).annotations({
    description:
      `Of a skipped reply one of: ${SkipReason.literals.map((reason) => `\`${reason}\``).join(", ")}. Of a failed one ` +
      "the kind of failure (`timeout`, `network`, `auth`, `quota`, `rate_limited`, `bad_request`, `context_too_long`, " +
      "`provider_error`, `invalid_response`, `empty_completion`, `refusal`), the platform's, or `cut short`, then a colon " +
      "and the provider's own words, without the key. Those words are for the operator: `ai.reply.*` events carry the " +
      "kind alone. Of a reply that the model did not finish within `max_tokens` it is `truncated`: whole sentences of it " +
      "are sent."
  }),
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

/** A reply to try the configuration with. */
export const TrialReply = data(
  Schema.Struct({
    reply: Schema.String,
    model_name: Schema.String,
    usage: Schema.Struct({ prompt_tokens: Schema.NullOr(Schema.Int), completion_tokens: Schema.NullOr(Schema.Int) }),
    latency_ms: Schema.Int,
    sent_message: Schema.NullOr(Message).annotations({
      description: "The first message of the reply, as it stands, when it was sent to the chat"
    })
  }).annotations({
    identifier: "AiTrialReply",
    examples: [
      {
        reply: "Yes, from 10 to 16.",
        model_name: "small-1",
        usage: { prompt_tokens: 120, completion_tokens: 18 },
        latency_ms: 840,
        sent_message: null
      }
    ]
  })
)
