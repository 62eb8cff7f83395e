import { Clock, Context, Data, Effect, Layer, Option } from "effect"
import { AiSettings } from "./AiSettings.ts"
import { askOnce } from "./AskModel.ts"
import { type ChatAnswer, ChatModel, type ChatModelFailure } from "./ChatModel.ts"
import { inheriting } from "./domain/AiSettings.ts"
import { plainText, windowSize } from "./domain/Conversation.ts"
import { handOffIn } from "./domain/ManagerAlert.ts"
import { ReplyChannel } from "./ReplyChannel.ts"

/** The chat that the trial names is none of the account. */
export class TrialChatNotFound extends Data.TaggedError("TrialChatNotFound")<{}> {}
export class NoApiKey extends Data.TaggedError("NoApiKey")<{}> {}

export interface Trial extends ChatAnswer {
  readonly latencyMs: number
}

/** A reply to try the configuration with: switches are not asked, nothing is stored, the provider is called once. */
export class TrialReply extends Context.Tag("gatehouse/reply/TrialReply")<
  TrialReply,
  {
    /** As that chat would be answered, its last messages included; without one as a new chat, or a new account. */
    readonly to: (input: {
      readonly accountId: Option.Option<string>
      readonly chatId: Option.Option<string>
      readonly message: string
    }) => Effect.Effect<Trial, TrialChatNotFound | NoApiKey | ChatModelFailure>
  }
>() {
  static readonly layer = Layer.effect(
    TrialReply,
    Effect.gen(function* () {
      const settings = yield* AiSettings
      const channel = yield* ReplyChannel
      const model = yield* ChatModel

      const to = Effect.fn("TrialReply.to")(function* (input: {
        readonly accountId: Option.Option<string>
        readonly chatId: Option.Option<string>
        readonly message: string
      }) {
        const named = Option.all([input.accountId, input.chatId])
        const found = Option.isNone(named) ? Option.none() : yield* channel.chat(...named.value)
        if (Option.isSome(input.chatId) && Option.isNone(found)) return yield* new TrialChatNotFound()
        const configured = yield* settings.configured(
          input.accountId,
          Option.getOrElse(found, () => inheriting)
        )
        const { echoMode, managerAlerts } = configured.settings
        const none = Option.none<number>()
        if (echoMode.value) {
          const { message } = input
          return { reply: message, model: "echo", promptTokens: none, completionTokens: none, latencyMs: 0 }
        }
        if (Option.isNone(configured.apiKey)) return yield* new NoApiKey()
        const before = Option.isNone(named) ? [] : yield* channel.window(...named.value, Option.none(), windowSize - 1)
        const asked = { direction: "incoming", type: "text", body: input.message } as const
        const startedAt = yield* Clock.currentTimeMillis
        const answer = yield* askOnce(model, configured, [...before, asked])
        const latencyMs = Math.round((yield* Clock.currentTimeMillis) - startedAt)
        const text = plainText(answer.reply).trim()
        const reply = managerAlerts.value.enabled ? handOffIn(text).text : text
        return { ...answer, reply, latencyMs }
      })

      return TrialReply.of({ to })
    })
  )
}
