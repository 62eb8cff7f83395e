import { HttpApi, OpenApi } from "@effect/platform"
import { AccountsGroup } from "./gateway/AccountsGroup.ts"
import { AiGroup, AiTrialsGroup } from "./gateway/AiGroup.ts"
import { ChannelWebhooksGroup } from "./gateway/ChannelWebhooksGroup.ts"
import { EventStreamsGroup } from "./gateway/EventStreamsGroup.ts"
import { ChatsGroup, MessagesGroup } from "./gateway/MessagesGroup.ts"
import { OperatorsGroup } from "./gateway/OperatorsGroup.ts"
import { documented } from "./Document.ts"
import { Unavailable } from "./Problem.ts"

/** The messaging gateway, under `/v1`. */
export class GatewayApi extends HttpApi.make("gateway")
  .add(OperatorsGroup)
  .add(AccountsGroup)
  .add(ChatsGroup)
  .add(MessagesGroup)
  .add(AiGroup)
  .add(AiTrialsGroup)
  .add(ChannelWebhooksGroup)
  .add(EventStreamsGroup)
  .addError(Unavailable.wire)
  .prefix("/v1")
  .annotateContext(documented)
  .annotate(OpenApi.Title, "Gatehouse messaging gateway")
  .annotate(OpenApi.Version, "1.0.0")
  .annotate(OpenApi.Description, "Channels on two chat platforms, messages, AI replies and signed webhooks.") {}
