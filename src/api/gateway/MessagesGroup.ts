import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { MessageSource, MessageStatus } from "../../channel/domain/Message.ts"
import { ChatType, MessageType } from "../../platform/domain/PlatformEvent.ts"
import { ChatMode } from "../../reply/domain/AiSettings.ts"
import { data, fields, Key, list, Timestamp, whole } from "../Envelope.ts"
import { PageQuery } from "../Page.ts"
import { BadRequest, Conflict, Invalid, NotFound } from "../Problem.ts"
import { repeatable } from "../Repeatable.ts"
import { ChannelTokenAuth, OperatorAuth } from "../Security.ts"
import { accountPath } from "./AccountsGroup.ts"

/** A stored message; `data` of message events has the same fields. */
export const Message = Schema.Struct({
  message_id: Schema.String,
  platform_a_message_id: Schema.NullOr(Schema.String).annotations({
    description: "The platform's own id, on either platform"
  }),
  chat_id: Schema.String,
  chat_type: ChatType,
  direction: Schema.Literal("incoming", "outgoing"),
  type: MessageType,
  from: Schema.NullOr(Schema.String),
  to: Schema.NullOr(Schema.String),
  body: Schema.String,
  status: MessageStatus,
  error: Schema.NullOr(Schema.String),
  source: MessageSource,
  not_before: Schema.NullOr(Timestamp).annotations({
    description:
      "A queued message waits until then: a cap of the account's pacing is reached, sending is frozen, or a reply of the AI is being typed"
  }),
  timestamp: Timestamp
}).annotations({
  identifier: "Message",
  examples: [
    {
      message_id: "019a9a4f-33c8-7b9a-a1d4-0c8e5f2b7d6f",
      platform_a_message_id: "30481234567890123456",
      chat_id: "pb:340282366841710300949128137443944311111",
      chat_type: "private",
      direction: "incoming",
      type: "text",
      from: "maria",
      to: "shop",
      body: "Are you open on Sunday?",
      status: "delivered",
      error: null,
      source: "platform",
      not_before: null,
      timestamp: "2026-03-02T08:00:00.000Z"
    }
  ]
})

export const Chat = Schema.Struct({
  chat_id: Schema.String,
  account_id: Schema.String,
  type: ChatType,
  name: Schema.NullOr(Schema.String),
  is_blocked: Schema.Boolean,
  unread_count: Schema.Int,
  last_message_at: Schema.NullOr(Timestamp),
  ai: Schema.Struct({ mode: ChatMode, custom_system_prompt: Schema.NullOr(Schema.String) })
}).annotations({
  identifier: "Chat",
  examples: [
    {
      chat_id: "pb:340282366841710300949128137443944311111",
      account_id: "019a9a4e-33c8-7b9a-a1d4-0c8e5f2b7d6e",
      type: "private",
      name: "maria",
      is_blocked: false,
      unread_count: 1,
      last_message_at: "2026-03-02T08:00:00.000Z",
      ai: { mode: "inherit", custom_system_prompt: null }
    }
  ]
})

export const chatPath = HttpApiSchema.param("chat", Key)

export class ChatsGroup extends HttpApiGroup.make("chats")
  .add(
    HttpApiEndpoint.get("listChats")`/accounts/${accountPath}/chats`
      .setUrlParams(PageQuery)
      .addSuccess(list(Chat))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotate(OpenApi.Summary, "List chats, the most recently active first")
  )
  .add(
    HttpApiEndpoint.patch("updateChat")`/accounts/${accountPath}/chats/${chatPath}`
      .setPayload(
        fields({
          is_blocked: Schema.optional(Schema.Boolean),
          name: Schema.optional(Schema.NullOr(whole(Schema.String.pipe(Schema.maxLength(255)))))
        })
      )
      .addSuccess(data(Chat))
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotate(OpenApi.Summary, "Block or rename a chat")
  )
  .add(
    HttpApiEndpoint.get("listMessages")`/accounts/${accountPath}/chats/${chatPath}/messages`
      .setUrlParams(PageQuery)
      .addSuccess(list(Message))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotate(OpenApi.Summary, "List messages of a chat")
  )
  .middleware(OperatorAuth) {}

export class MessagesGroup extends HttpApiGroup.make("messages")
  .add(
    HttpApiEndpoint.post("sendText", "/messages/text")
      .setPayload(
        fields({
          to: Schema.Trim.pipe(Schema.minLength(1), Schema.maxLength(255)).annotations({
            description:
              "platform_a: a jid or the digits of a phone number. platform_b: `pb:<thread_id>` or `pbuser:<username>`"
          }),
          body: whole(Schema.String.pipe(Schema.minLength(1), Schema.maxLength(4096))).annotations({
            description: "At most 1000 characters on platform_b"
          })
        })
      )
      .addSuccess(data(Message))
      .addError(Conflict.wire)
      .addError(Invalid.wire)
      .annotateContext(repeatable("leased"))
      .annotate(OpenApi.Summary, "Send a text; waits up to 10 s and answers the message as it stands")
  )
  .middleware(ChannelTokenAuth) {}
