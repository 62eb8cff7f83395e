import { Array, Clock, Context, Data, Effect, Layer, Option } from "effect"
import { AiSettings } from "./AiSettings.ts"
import { askOnce } from "./AskModel.ts"
import { type ChatAnswer, ChatModel, type ChatModelFailure } from "./ChatModel.ts"
import { inheriting } from "./domain/AiSettings.ts"
import { windowSize } from "./domain/Conversation.ts"
import { spokenReply } from "./domain/SpokenReply.ts"
import { ReplyChannel } from "./ReplyChannel.ts"

/** The chat that the trial names is none of the account. */
export class TrialChatNotFound extends Data.TaggedError("TrialChatNotFound")<{}> {}
export class NoApiKey extends Data.TaggedError("NoApiKey")<{}> {}

export interface Trial extends ChatAnswer {
  readonly latencyMs: number
}

export interface TrialInput {
  readonly accountId: Option.Option<string>
  readonly chatId: Option.Option<string>
  readonly message: string
}

const none = Option.none<number>()

/** A reply to try the configuration with: switches are not asked, nothing is stored, the provider is called once. */
export class TrialReply extends Context.Tag("gatehouse/reply/TrialReply")<
  TrialReply,
  {
    /** As that chat would be answered, its last messages included; without one as a new chat, or a new account. */
    readonly to: (input: TrialInput) => Effect.Effect<Trial, TrialChatNotFound | NoApiKey | ChatModelFailure>
    /** A trial whose reply is known from an earlier try: nobody is asked. */
    readonly again: (input: TrialInput, reply: string) => Effect.Effect<Trial, TrialChatNotFound>
  }
>() {
  static readonly layer = Layer.effect(
    TrialReply,
    Effect.gen(function* () {
      const settings = yield* AiSettings
      const channel = yield* ReplyChannel
      const model = yield* ChatModel

      const configuredFor = Effect.fn("TrialReply.configuredFor")(function* ({ accountId, chatId }: TrialInput) {
        const named = Option.all({ accountId, chatId })
        const found = Option.isNone(named) ? Option.none() : yield* channel.chat(named.value)
        if (Option.isSome(chatId) && Option.isNone(found)) return yield* new TrialChatNotFound()
        return yield* settings.configured(
          accountId,
          Option.getOrElse(found, () => inheriting)
        )
      })

      const unasked = (reply: string, model: string): Trial => ({
        reply,
        isCutOff: false,
        model,
        promptTokens: none,
        completionTokens: none,
        latencyMs: 0
      })

      const lastMessages = (accountId: string, chatId: string) =>
        Effect.map(channel.windows([{ accountId, chatId, upTo: Option.none(), limit: windowSize - 1 }]), Array.flatten)

      const to = Effect.fn("TrialReply.to")(function* (input: TrialInput) {
        const configured = yield* configuredFor(input)
        const { echoMode, managerAlerts } = configured.settings
        if (echoMode.value) return unasked(input.message, "echo")
        if (Option.isNone(yield* configured.apiKey)) return yield* new NoApiKey()
        const named = Option.all([input.accountId, input.chatId])
        const before = Option.isNone(named) ? [] : yield* lastMessages(...named.value)
        const asked = { direction: "incoming", type: "text", body: input.message } as const
        const startedAt = yield* Clock.currentTimeMillis
        const answer = yield* askOnce(model, configured, [...before, asked])
        const latencyMs = Math.round((yield* Clock.currentTimeMillis) - startedAt)
        return { ...answer, reply: spokenReply(answer, managerAlerts.value.enabled).text, latencyMs }
      })

      const again = Effect.fn("TrialReply.again")(function* (input: TrialInput, reply: string) {
        const { settings } = yield* configuredFor(input)
        return unasked(reply, settings.echoMode.value ? "echo" : settings.modelName.value)
      })

      return TrialReply.of({ to, again })
    })
  )
}
