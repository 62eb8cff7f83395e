import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { Conflict, Invalid, NotFound } from "../api/Problem.ts"
import { CurrentChannel } from "../api/Security.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import { channelOfPath } from "./CallerChannelHttp.ts"
import { Channels } from "./Channels.ts"
import { Chats } from "./Chats.ts"
import { chatItem } from "./domain/Chat.ts"
import { messageItem } from "./domain/Message.ts"
import { Messages } from "./Messages.ts"
import { TextMessages } from "./TextMessages.ts"

export const noSuchChat = () => new NotFound({ message: "No such chat." })

export const ChatsHttp = HttpApiBuilder.group(ServiceApi, "chats", (handlers) =>
  Effect.gen(function* () {
    const chats = yield* Chats
    const messages = yield* Messages

    return handlers
      .handle("listChats", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const channel = yield* channelOfPath(path.id)
          const page = yield* pageOf(urlParams)
          return pageAnswer(
            yield* chats.page(channel.id, page),
            page.limit,
            ({ lastMessageId }) => lastMessageId,
            chatItem
          )
        })
      )
      .handle("updateChat", ({ path, payload }) =>
        Effect.gen(function* () {
          const channel = yield* channelOfPath(path.id)
          const chat = yield* chats.update(channel.id, path.chat, {
            ...(payload.is_blocked === undefined ? {} : { isBlocked: payload.is_blocked }),
            ...(payload.name === undefined ? {} : { name: payload.name })
          })
          return { data: chatItem(chat) }
        }).pipe(Effect.catchTag("ChatNotFound", noSuchChat))
      )
      .handle("listMessages", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const channel = yield* channelOfPath(path.id)
          yield* chats.byId(channel.id, path.chat)
          const page = yield* pageOf(urlParams)
          const rows = yield* messages.page(channel.id, path.chat, page)
          return pageAnswer(rows, page.limit, ({ id }) => id, messageItem)
        }).pipe(Effect.catchTag("ChatNotFound", noSuchChat))
      )
  })
)

export const MessagesHttp = HttpApiBuilder.group(ServiceApi, "messages", (handlers) =>
  Effect.gen(function* () {
    const channels = yield* Channels
    const texts = yield* TextMessages

    return handlers.handle("sendText", ({ payload }) =>
      Effect.gen(function* () {
        const { id } = yield* CurrentChannel
        const channel = yield* channels.byId(id)
        return { data: messageItem(yield* texts.send(channel, payload.to, payload.body)) }
      }).pipe(
        Effect.catchTags({
          ChannelNotFound: () => new Conflict({ message: "The account is gone." }),
          NotConnected: () => new Conflict({ message: "The account is not connected." }),
          RecipientWrong: ({ reason }) =>
            new Invalid({ message: "The given data was invalid.", errors: { to: [reason] } }),
          TextTooLong: ({ longest }) =>
            new Invalid({
              message: "The given data was invalid.",
              errors: { body: [`must be at most ${longest} characters on this platform`] }
            }),
          MessageRefused: ({ reason }) => new Conflict({ message: `The platform refused the message: ${reason}.` })
        })
      )
    )
  })
)
