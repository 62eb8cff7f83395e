import { HttpApiBuilder } from "@effect/platform"
import { Effect, Option } from "effect"
import { BadGateway, Conflict, Invalid } from "../api/Problem.ts"
import { CurrentChannel } from "../api/Security.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import type { ChatModelFailure } from "../reply/ChatModel.ts"
import { type Trial, TrialReply } from "../reply/TrialReply.ts"
import { channelOfPath } from "./CallerChannelHttp.ts"
import { Channels } from "./Channels.ts"
import type { Channel } from "./domain/Channel.ts"
import { type Message, messageItem } from "./domain/Message.ts"
import { RequestedReplies } from "./RequestedReplies.ts"
import { noSuchChat } from "./MessagesHttp.ts"
import { TextMessages } from "./TextMessages.ts"

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
    const texts = yield* TextMessages
    const replies = yield* RequestedReplies

    /** Asks and sends; what an earlier try of the same request has stored is neither asked for nor sent again. */
    const sent = Effect.fn("AiTrialsHttp.sent")(function* (channel: Channel, chatId: string, message: string) {
      if (channel.status !== "connected") return yield* notConnected()
      const input = { accountId: Option.some(channel.id), chatId: Option.some(chatId), message }
      const [first, ...more] = yield* replies.ofRequest
      if (first !== undefined) {
        const reply = [first, ...more].map(({ body }) => body).join("\n")
        return trialItem(yield* trials.again(input, reply), Option.some(yield* texts.outcome(first)))
      }
      const trial = yield* trials.to(input)
      return trialItem(trial, yield* replies.send(channel, chatId, trial.reply))
    })

    return handlers
      .handle("tryChatAi", ({ payload }) =>
        Effect.gen(function* () {
          const { id } = yield* CurrentChannel
          const channel = yield* channels.byId(id)
          const { chat_id, message, send_to_chat } = payload
          if (send_to_chat === true && chat_id !== undefined) return yield* sent(channel, chat_id, message)
          const chatId = Option.fromNullable(chat_id)
          return trialItem(yield* trials.to({ accountId: Option.some(id), chatId, message }), Option.none())
        }).pipe(
          Effect.catchTags({
            ...problems,
            ChannelNotFound: () => new Conflict({ message: "The account is gone." }),
            RecipientWrong: ({ reason }) =>
              new Invalid({ message: "The given data was invalid.", errors: { chat_id: [reason] } }),
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
