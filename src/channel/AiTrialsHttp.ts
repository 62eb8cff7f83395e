import { HttpApiBuilder } from "@effect/platform"
import { Effect, Option } from "effect"
import { BadGateway, Conflict, Invalid } from "../api/Problem.ts"
import { CurrentChannel } from "../api/Security.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { longestText } from "../platform/domain/TextLimit.ts"
import type { ChatModelFailure } from "../reply/ChatModel.ts"
import { splitReply } from "../reply/domain/LongReply.ts"
import { type Trial, TrialReply } from "../reply/TrialReply.ts"
import { channelOfPath } from "./CallerChannelHttp.ts"
import { Channels } from "./Channels.ts"
import type { Channel } from "./domain/Channel.ts"
import { type Message, messageItem } from "./domain/Message.ts"
import { Messages } from "./Messages.ts"
import { noSuchChat } from "./MessagesHttp.ts"

const notConnected = () => new Conflict({ message: "The account is not connected." })

const problems = {
  TrialChatNotFound: noSuchChat,
  NoApiKey: () => new Conflict({ message: "No API key is configured." }),
  ChatModelFailure: ({ kind, message }: ChatModelFailure) =>
    new BadGateway({ message: `The provider gave no reply (${kind}): ${message}` })
}

const trialItem = (trial: Trial, sent: Option.Option<Message>) => ({
  data: {
    reply: trial.reply,
    model_name: trial.model,
    usage: {
      prompt_tokens: Option.getOrNull(trial.promptTokens),
      completion_tokens: Option.getOrNull(trial.completionTokens)
    },
    latency_ms: trial.latencyMs,
    sent_message: Option.getOrNull(Option.map(sent, messageItem))
  }
})

export const AiTrialsHttp = HttpApiBuilder.group(ServiceApi, "aiTrials", (handlers) =>
  Effect.gen(function* () {
    const trials = yield* TrialReply
    const channels = yield* Channels
    const messages = yield* Messages

    /** All of its messages; the first one as it stands. */
    const send = Effect.fn("AiTrialsHttp.send")(function* (channel: Channel, chatId: string, reply: string) {
      const [first, ...more] = splitReply(reply, longestText(chatId))
      const sent = yield* Effect.transposeMapOption(Option.fromNullable(first), (body) =>
        messages.sendText(channel, chatId, body, "ai")
      )
      yield* Effect.forEach(more, (body) => messages.sendText(channel, chatId, body, "ai"), { discard: true })
      return sent
    })

    return handlers
      .handle("tryChatAi", ({ payload }) =>
        Effect.gen(function* () {
          const { id } = yield* CurrentChannel
          const channel = yield* channels.byId(id)
          const chatId = Option.fromNullable(payload.chat_id)
          const isSent = payload.send_to_chat === true && Option.isSome(chatId)
          if (isSent && channel.status !== "connected") return yield* notConnected()
          const trial = yield* trials.to({ accountId: Option.some(id), chatId, message: payload.message })
          const sent = isSent ? yield* send(channel, chatId.value, trial.reply) : Option.none()
          return trialItem(trial, sent)
        }).pipe(
          Effect.catchTags({
            ...problems,
            ChannelNotFound: () => new Conflict({ message: "The account is gone." }),
            NotConnected: notConnected,
            RecipientWrong: ({ reason }) =>
              new Invalid({ message: "The given data was invalid.", errors: { chat_id: [reason] } }),
            TextTooLong: () => new Conflict({ message: "The platform takes no text of that length." }),
            MessageRefused: ({ reason }) => new Conflict({ message: `The platform refused the message: ${reason}.` })
          })
        )
      )
      .handle("tryAi", ({ payload }) =>
        Effect.gen(function* () {
          const chatId = Option.fromNullable(payload.chat_id)
          if (Option.isSome(chatId) && payload.account_id === undefined) {
            const errors = { account_id: ["is missing: a chat is one of an account"] }
            return yield* new Invalid({ message: "The given data was invalid.", errors })
          }
          const accountId = Option.fromNullable(payload.account_id)
          yield* Effect.transposeMapOption(accountId, channelOfPath)
          return trialItem(yield* trials.to({ accountId, chatId, message: payload.message }), Option.none())
        }).pipe(Effect.catchTags(problems))
      )
  })
)
