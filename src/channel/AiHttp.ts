import { HttpApiBuilder } from "@effect/platform"
import { Effect, Option, type Redacted } from "effect"
import { ServiceApi } from "../api/ServiceApi.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import { AiLogs } from "../reply/AiLogs.ts"
import { AiSettings, type KeyChange } from "../reply/AiSettings.ts"
import { aiLogItem } from "../reply/domain/AiLog.ts"
import type { AiLayer, Effective, KeyedLayer } from "../reply/domain/AiSettings.ts"
import { channelOfPath } from "./CallerChannelHttp.ts"
import { Chats } from "./Chats.ts"
import type { Chat } from "./domain/Chat.ts"
import { noSuchChat } from "./MessagesHttp.ts"

/** The fields that a put may name, as they go over the wire. */
interface Put {
  readonly api_key?: Redacted.Redacted<string> | null | undefined
  readonly [field: string]: unknown
}

const layerFields = {
  enabled: "enabled",
  base_url: "baseUrl",
  model_name: "modelName",
  default_system_prompt: "systemPrompt",
  system_prompt: "systemPrompt",
  business_knowledge: "businessKnowledge",
  temperature: "temperature",
  max_tokens: "maxTokens",
  timeout_seconds: "timeoutSeconds",
  reply_delay_seconds: "replyDelaySeconds",
  reply_to_private: "replyToPrivate",
  reply_to_groups: "replyToGroups",
  reply_to_channels: "replyToChannels",
  echo_mode: "echoMode",
  manager_alerts: "managerAlerts",
  debounce_seconds: "debounceSeconds",
  human_takeover_minutes: "humanTakeoverMinutes"
} as const satisfies { readonly [field: string]: keyof AiLayer }

const changesOf = (put: Put): Partial<AiLayer> =>
  Object.fromEntries(
    Object.entries(layerFields).flatMap(([field, key]) => (put[field] === undefined ? [] : [[key, put[field]]]))
  )

const keyOf = ({ api_key }: Put): KeyChange => (api_key === undefined ? Option.none() : Option.some(api_key))

const storedItem = ({ hasApiKey, layer }: KeyedLayer) => ({
  enabled: layer.enabled,
  base_url: layer.baseUrl,
  has_api_key: hasApiKey,
  model_name: layer.modelName,
  temperature: layer.temperature,
  max_tokens: layer.maxTokens,
  timeout_seconds: layer.timeoutSeconds,
  reply_delay_seconds: layer.replyDelaySeconds,
  reply_to_private: layer.replyToPrivate,
  reply_to_groups: layer.replyToGroups,
  reply_to_channels: layer.replyToChannels,
  echo_mode: layer.echoMode
})

const globalItem = (stored: KeyedLayer) => ({
  data: {
    ...storedItem(stored),
    enabled: stored.layer.enabled ?? false,
    default_system_prompt: stored.layer.systemPrompt
  }
})

const accountItem = (stored: KeyedLayer) => ({
  data: {
    ...storedItem(stored),
    system_prompt: stored.layer.systemPrompt,
    business_knowledge: stored.layer.businessKnowledge,
    manager_alerts: stored.layer.managerAlerts,
    debounce_seconds: stored.layer.debounceSeconds,
    human_takeover_minutes: stored.layer.humanTakeoverMinutes
  }
})

const effectiveItem = ({ enabled, ...values }: Effective) => ({
  enabled: { ...enabled, effective: enabled.global && enabled.account && enabled.chat },
  base_url: values.baseUrl,
  has_api_key: values.hasApiKey,
  model_name: values.modelName,
  system_prompt: values.systemPrompt,
  business_knowledge: values.businessKnowledge,
  temperature: values.temperature,
  max_tokens: values.maxTokens,
  timeout_seconds: values.timeoutSeconds,
  reply_delay_seconds: values.replyDelaySeconds,
  reply_to_private: values.replyToPrivate,
  reply_to_groups: values.replyToGroups,
  reply_to_channels: values.replyToChannels,
  echo_mode: values.echoMode,
  manager_alerts: values.managerAlerts,
  debounce_seconds: values.debounceSeconds,
  human_takeover_minutes: values.humanTakeoverMinutes
})

const chatSettingsItem = ({ aiMode, customSystemPrompt }: Chat) => ({
  data: { mode: aiMode, custom_system_prompt: Option.getOrNull(customSystemPrompt) }
})

export const AiHttp = HttpApiBuilder.group(ServiceApi, "ai", (handlers) =>
  Effect.gen(function* () {
    const settings = yield* AiSettings
    const logs = yield* AiLogs
    const chats = yield* Chats

    return handlers
      .handle("getGlobalAi", () => Effect.map(settings.global, globalItem))
      .handle("putGlobalAi", ({ payload }) =>
        Effect.map(settings.putGlobal(changesOf(payload), keyOf(payload)), globalItem)
      )
      .handle("getAccountAi", ({ path }) =>
        Effect.gen(function* () {
          const channel = yield* channelOfPath(path.id)
          return accountItem(yield* settings.account(channel.id))
        })
      )
      .handle("putAccountAi", ({ path, payload }) =>
        Effect.gen(function* () {
          const channel = yield* channelOfPath(path.id)
          return accountItem(yield* settings.putAccount(channel.id, changesOf(payload), keyOf(payload)))
        })
      )
      .handle("deleteAccountAi", ({ path }) =>
        Effect.gen(function* () {
          const channel = yield* channelOfPath(path.id)
          yield* settings.deleteAccount(channel.id)
          return { data: { uuid: channel.id, deleted: true as const } }
        })
      )
      .handle("getChatAi", ({ path }) =>
        Effect.gen(function* () {
          const channel = yield* channelOfPath(path.id)
          return chatSettingsItem(yield* chats.byId(channel.id, path.chat))
        }).pipe(Effect.catchTag("ChatNotFound", noSuchChat))
      )
      .handle("getEffectiveAi", ({ path }) =>
        Effect.gen(function* () {
          const channel = yield* channelOfPath(path.id)
          const { aiMode, customSystemPrompt } = yield* chats.byId(channel.id, path.chat)
          const layer = { mode: aiMode, customSystemPrompt }
          const { settings: effective } = yield* settings.configured(Option.some(channel.id), layer)
          return { data: effectiveItem(effective) }
        }).pipe(Effect.catchTag("ChatNotFound", noSuchChat))
      )
      .handle("putChatAi", ({ path, payload }) =>
        Effect.gen(function* () {
          const channel = yield* channelOfPath(path.id)
          const prompt = payload.custom_system_prompt
          const chat = yield* chats.update(channel.id, path.chat, {
            aiMode: payload.mode,
            ...(prompt === undefined ? {} : { customSystemPrompt: prompt })
          })
          return chatSettingsItem(chat)
        }).pipe(Effect.catchTag("ChatNotFound", noSuchChat))
      )
      .handle("listAiLogs", ({ urlParams }) =>
        Effect.gen(function* () {
          const page = yield* pageOf(urlParams)
          const rows = yield* logs.page({
            ...page,
            accountId: Option.fromNullable(urlParams.account_id),
            chatId: Option.fromNullable(urlParams.chat_id),
            status: Option.fromNullable(urlParams.status)
          })
          return pageAnswer(rows, page.limit, ({ id }) => id, aiLogItem)
        })
      )
  })
)
