import { Option, Schema } from "effect"

/** Per chat: `inherit` says yes where account and global do, `disabled` says no. */
export const ChatMode = Schema.Literal("inherit", "enabled", "disabled")
export type ChatMode = typeof ChatMode.Type

/** Who is told, on the same channel, when a keyword appears or the AI hands over. */
export const ManagerAlerts = Schema.Struct({
  enabled: Schema.Boolean,
  to: Schema.String,
  keywords: Schema.Array(Schema.String)
})
export type ManagerAlerts = typeof ManagerAlerts.Type

/** One layer of the configuration; null leaves the value to the next layer. */
export const AiLayer = Schema.Struct({
  enabled: Schema.NullOr(Schema.Boolean),
  baseUrl: Schema.NullOr(Schema.String),
  modelName: Schema.NullOr(Schema.String),
  systemPrompt: Schema.NullOr(Schema.String),
  businessKnowledge: Schema.NullOr(Schema.String),
  temperature: Schema.NullOr(Schema.Number),
  maxTokens: Schema.NullOr(Schema.Int),
  timeoutSeconds: Schema.NullOr(Schema.Number),
  replyDelaySeconds: Schema.NullOr(Schema.Number),
  replyToPrivate: Schema.NullOr(Schema.Boolean),
  replyToGroups: Schema.NullOr(Schema.Boolean),
  replyToChannels: Schema.NullOr(Schema.Boolean),
  echoMode: Schema.NullOr(Schema.Boolean),
  managerAlerts: Schema.NullOr(ManagerAlerts),
  debounceSeconds: Schema.NullOr(Schema.Number),
  humanTakeoverMinutes: Schema.NullOr(Schema.Number)
})
export type AiLayer = typeof AiLayer.Type

export const emptyLayer: AiLayer = {
  enabled: null,
  baseUrl: null,
  modelName: null,
  systemPrompt: null,
  businessKnowledge: null,
  temperature: null,
  maxTokens: null,
  timeoutSeconds: null,
  replyDelaySeconds: null,
  replyToPrivate: null,
  replyToGroups: null,
  replyToChannels: null,
  echoMode: null,
  managerAlerts: null,
  debounceSeconds: null,
  humanTakeoverMinutes: null
}

export interface ChatLayer {
  readonly mode: ChatMode
  readonly customSystemPrompt: Option.Option<string>
}

/** The layer of a chat that sets nothing. */
export const inheriting: ChatLayer = { mode: "inherit", customSystemPrompt: Option.none() }

export const LayerName = Schema.Literal("chat", "account", "global", "environment", "default")
export type LayerName = typeof LayerName.Type

export interface Sourced<A> {
  readonly value: A
  readonly layer: LayerName
}

/** What is in force for one chat, and where each value comes from. */
export interface Effective {
  readonly enabled: { readonly global: boolean; readonly account: boolean; readonly chat: boolean }
  readonly baseUrl: Sourced<string>
  readonly hasApiKey: Sourced<boolean>
  readonly modelName: Sourced<string>
  readonly systemPrompt: Sourced<string>
  readonly businessKnowledge: Sourced<string>
  readonly temperature: Sourced<number | null>
  readonly maxTokens: Sourced<number | null>
  readonly timeoutSeconds: Sourced<number>
  readonly replyDelaySeconds: Sourced<number>
  readonly replyToPrivate: Sourced<boolean>
  readonly replyToGroups: Sourced<boolean>
  readonly replyToChannels: Sourced<boolean>
  readonly echoMode: Sourced<boolean>
  readonly managerAlerts: Sourced<ManagerAlerts>
  readonly debounceSeconds: Sourced<number>
  readonly humanTakeoverMinutes: Sourced<number>
}

export const defaults = {
  baseUrl: "https://api.openai.com/v1",
  modelName: "gpt-4o-mini",
  systemPrompt: "",
  businessKnowledge: "",
  temperature: null,
  maxTokens: null,
  timeoutSeconds: 30,
  replyDelaySeconds: 2,
  replyToPrivate: true,
  replyToGroups: false,
  replyToChannels: false,
  echoMode: false,
  managerAlerts: { enabled: false, to: "", keywords: [] },
  debounceSeconds: 0,
  humanTakeoverMinutes: 0
} as const

/** A layer of the configuration as it is stored: the key is only known to be there. */
export interface KeyedLayer {
  readonly layer: AiLayer
  readonly hasApiKey: boolean
}

export interface Layers {
  readonly chat: ChatLayer
  readonly account: KeyedLayer
  readonly global: KeyedLayer
  readonly environment: KeyedLayer
}

const names = ["account", "global", "environment"] as const

/** The layer whose key is used; none where no layer has one. */
export const keyLayer = (layers: Layers): Option.Option<(typeof names)[number]> =>
  Option.fromNullable(names.find((name) => layers[name].hasApiKey))

/**
 * The four layers made one: each value is that of the first layer that has one, in the order chat, account, global,
 * environment, then the default (gateway specification, part 2, "Configuration layers"). Switches are an AND instead, as
 * step 2 of the flow says: a chat that is `enabled` lifts no other switch.
 */
export const resolve = (layers: Layers): Effective => {
  const { account, chat, global } = layers
  const value = <Key extends Exclude<keyof AiLayer, "enabled">, Default>(
    key: Key,
    byDefault: Default
  ): Sourced<NonNullable<AiLayer[Key]> | Default> => {
    for (const name of names) {
      const found = layers[name].layer[key]
      if (found !== null) return { value: found, layer: name }
    }
    return { value: byDefault, layer: "default" }
  }
  return {
    enabled: {
      global: global.layer.enabled ?? false,
      account: account.layer.enabled ?? true,
      chat: chat.mode !== "disabled"
    },
    baseUrl: value("baseUrl", defaults.baseUrl),
    hasApiKey: Option.match(keyLayer(layers), {
      onNone: () => ({ value: false, layer: "default" }),
      onSome: (layer) => ({ value: true, layer })
    }),
    modelName: value("modelName", defaults.modelName),
    systemPrompt: Option.match(chat.customSystemPrompt, {
      onNone: () => value("systemPrompt", defaults.systemPrompt),
      onSome: (prompt) => ({ value: prompt, layer: "chat" })
    }),
    businessKnowledge: value("businessKnowledge", defaults.businessKnowledge),
    temperature: value("temperature", defaults.temperature),
    maxTokens: value("maxTokens", defaults.maxTokens),
    timeoutSeconds: value("timeoutSeconds", defaults.timeoutSeconds),
    replyDelaySeconds: value("replyDelaySeconds", defaults.replyDelaySeconds),
    replyToPrivate: value("replyToPrivate", defaults.replyToPrivate),
    replyToGroups: value("replyToGroups", defaults.replyToGroups),
    replyToChannels: value("replyToChannels", defaults.replyToChannels),
    echoMode: value("echoMode", defaults.echoMode),
    managerAlerts: value("managerAlerts", defaults.managerAlerts),
    debounceSeconds: value("debounceSeconds", defaults.debounceSeconds),
    humanTakeoverMinutes: value("humanTakeoverMinutes", defaults.humanTakeoverMinutes)
  }
}
