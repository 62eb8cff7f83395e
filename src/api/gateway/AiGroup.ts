import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { AiLogStatus } from "../../reply/domain/AiLog.ts"
import { Deleted, fields, Key, list, whole } from "../Envelope.ts"
import { cursor, limit } from "../Page.ts"
import { BadGateway, BadRequest, Conflict, Invalid, NotFound } from "../Problem.ts"
import { repeatable } from "../Repeatable.ts"
import { ChannelTokenAuth, OperatorAuth } from "../Security.ts"
import { accountPath } from "./AccountsGroup.ts"
import {
  accountFields,
  AccountSettings,
  AiLog,
  chatFields,
  ChatSettings,
  EffectiveSettings,
  globalFields,
  GlobalSettings,
  TrialReply
} from "./AiRecords.ts"
import { chatPath } from "./MessagesGroup.ts"

export class AiGroup extends HttpApiGroup.make("ai")
  .add(
    HttpApiEndpoint.get("getGlobalAi", "/ai/global")
      .addSuccess(GlobalSettings)
      .annotate(OpenApi.Summary, "Show the AI configuration of all accounts")
  )
  .add(
    HttpApiEndpoint.put("putGlobalAi", "/ai/global")
      .setPayload(globalFields)
      .addSuccess(GlobalSettings)
      .addError(Invalid.wire)
      .annotate(OpenApi.Summary, "Set the AI configuration; without `api_key` the key stays, null deletes it")
  )
  .add(
    HttpApiEndpoint.get("getAccountAi")`/accounts/${accountPath}/ai`
      .addSuccess(AccountSettings)
      .addError(NotFound.wire)
      .annotate(OpenApi.Summary, "Show an account's overrides; null inherits")
  )
  .add(
    HttpApiEndpoint.put("putAccountAi")`/accounts/${accountPath}/ai`
      .setPayload(accountFields)
      .addSuccess(AccountSettings)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotate(OpenApi.Summary, "Set an account's overrides; what is not named stays, null inherits")
  )
  .add(
    HttpApiEndpoint.del("deleteAccountAi")`/accounts/${accountPath}/ai`
      .addSuccess(Deleted)
      .addError(NotFound.wire)
      .annotate(OpenApi.Summary, "Drop an account's overrides, its key too: it inherits everything")
  )
  .add(
    HttpApiEndpoint.get("getChatAi")`/accounts/${accountPath}/chats/${chatPath}/ai`
      .addSuccess(ChatSettings)
      .addError(NotFound.wire)
      .annotate(OpenApi.Summary, "Show a chat's AI mode and prompt")
  )
  .add(
    HttpApiEndpoint.get("getEffectiveAi")`/accounts/${accountPath}/chats/${chatPath}/ai/effective`
      .addSuccess(EffectiveSettings)
      .addError(NotFound.wire)
      .annotate(OpenApi.Summary, "Show what is in force for a chat, and the layer that each value comes from")
      .annotate(
        OpenApi.Description,
        "Values come from the first layer that has one: chat, account, global, environment (the program's own settings), " +
          "then the default. Switches are an AND of global, account and chat: `inherit` and null say yes, and a chat that " +
          "is `enabled` lifts no other switch."
      )
  )
  .add(
    HttpApiEndpoint.put("putChatAi")`/accounts/${accountPath}/chats/${chatPath}/ai`
      .setPayload(chatFields)
      .addSuccess(ChatSettings)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotate(OpenApi.Summary, "Set a chat's AI mode and prompt")
      .annotate(
        OpenApi.Description,
        "Once a switch is answered as off, no reply sets out any more; one that is with the platform at that moment may arrive."
      )
  )
  .add(
    HttpApiEndpoint.get("listAiLogs", "/ai/logs")
      .setUrlParams(
        fields({
          limit,
          cursor,
          account_id: Schema.optional(Schema.UUID),
          chat_id: Schema.optional(Key),
          status: Schema.optional(AiLogStatus)
        })
      )
      .addSuccess(list(AiLog))
      .addError(BadRequest.wire)
      .addError(Invalid.wire)
      .annotate(OpenApi.Summary, "List AI replies, with the reason of those that were not sent")
  )
  .middleware(OperatorAuth) {}

const message = whole(Schema.Trim.pipe(Schema.minLength(1), Schema.maxLength(4096)))
const chatId = Schema.optional(whole(Schema.Trim.pipe(Schema.minLength(1), Schema.maxLength(255))))

/** Replies to try the configuration with: one call of the provider, whatever the switches say; nothing is logged. */
export class AiTrialsGroup extends HttpApiGroup.make("aiTrials")
  .add(
    HttpApiEndpoint.post("tryChatAi", "/ai/chat/test")
      .setPayload(
        fields({
          message,
          chat_id: chatId.annotations({ description: "Answered as this chat, with its last messages" }),
          send_to_chat: Schema.optional(Schema.Boolean).annotations({
            description: "Send the reply to the chat of `chat_id` as well"
          })
        })
      )
      .addSuccess(TrialReply)
      .addError(BadGateway.wire)
      .addError(Conflict.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .middleware(ChannelTokenAuth)
      .annotateContext(repeatable("leased"))
      .annotate(OpenApi.Summary, "Try the AI of the caller's account")
  )
  .add(
    HttpApiEndpoint.post("tryAi", "/ai/admin/test")
      .setPayload(
        fields({
          message,
          account_id: Schema.optional(Schema.UUID).annotations({ description: "Without it, the global configuration" }),
          chat_id: chatId.annotations({ description: "A chat of `account_id`" })
        })
      )
      .addSuccess(TrialReply)
      .addError(BadGateway.wire)
      .addError(Conflict.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .middleware(OperatorAuth)
      .annotateContext(repeatable("leased"))
      .annotate(OpenApi.Summary, "Try the AI of any account, or of all")
  ) {}
