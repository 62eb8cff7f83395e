import { Option, Schema } from "effect"

/** Per chat: `inherit` says yes where account and global do, `disabled` says no. */
export const ChatMode = Schema.Literal("inherit", "enabled", "disabled")
export type ChatMode = typeof ChatMode.Type

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
  echoMode: Schema.NullOr(Schema.Boolean)
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
  echoMode: null
}

export interface ChatLayer {
  readonly mode: ChatMode
  readonly customSystemPrompt: Option.Option<string>
}

/** What is in force for one chat. The three switches are an AND, told apart so that a skip can name its cause. */
export interface Effective {
  readonly globalEnabled: boolean
  readonly accountEnabled: boolean
  readonly chatEnabled: boolean
  readonly baseUrl: string
  readonly modelName: string
  readonly systemPrompt: string
  readonly businessKnowledge: string
  readonly temperature: Option.Option<number>
  readonly maxTokens: Option.Option<number>
  readonly timeoutSeconds: number
  readonly replyDelaySeconds: number
  readonly replyTo: { readonly private: boolean; readonly group: boolean; readonly channel: boolean }
  readonly echoMode: boolean
}

export const defaults = {
  baseUrl: "https://api.openai.com/v1",
  modelName: "gpt-4o-mini",
  timeoutSeconds: 30,
  replyDelaySeconds: 2
}

/** Values by layer: chat, account, global, environment, default (gateway specification, part 2, "Configuration layers"). */
export const resolve = (layers: {
  readonly chat: ChatLayer
  readonly account: AiLayer
  readonly global: AiLayer
  readonly environment: AiLayer
}): Effective => {
  const { account, chat, environment, global } = layers
  const value = <Key extends keyof AiLayer>(key: Key) => account[key] ?? global[key] ?? environment[key]
  return {
    globalEnabled: global.enabled ?? false,
    accountEnabled: account.enabled ?? true,
    chatEnabled: chat.mode !== "disabled",
    baseUrl: value("baseUrl") ?? defaults.baseUrl,
    modelName: value("modelName") ?? defaults.modelName,
    systemPrompt: Option.getOrElse(chat.customSystemPrompt, () => value("systemPrompt") ?? ""),
    businessKnowledge: value("businessKnowledge") ?? "",
    temperature: Option.fromNullable(value("temperature")),
    maxTokens: Option.fromNullable(value("maxTokens")),
    timeoutSeconds: value("timeoutSeconds") ?? defaults.timeoutSeconds,
    replyDelaySeconds: value("replyDelaySeconds") ?? defaults.replyDelaySeconds,
    replyTo: {
      private: value("replyToPrivate") ?? true,
      group: value("replyToGroups") ?? false,
      channel: value("replyToChannels") ?? false
    },
    echoMode: value("echoMode") ?? false
  }
}
