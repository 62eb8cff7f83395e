import { type Duration, Layer } from "effect"
import { AiLogRepo } from "../reply/AiLogRepo.ts"
import { AiLogs } from "../reply/AiLogs.ts"
import { AiSettings } from "../reply/AiSettings.ts"
import { AutoReply } from "../reply/AutoReply.ts"
import * as ChannelEntity from "./actor/ChannelEntity.ts"
import * as WakeChannels from "./actor/WakeChannels.ts"
import * as ChannelReplies from "./ChannelReplies.ts"
import { ChannelRepo } from "./ChannelRepo.ts"
import { Channels } from "./Channels.ts"
import { ChatRepo } from "./ChatRepo.ts"
import { Chats } from "./Chats.ts"
import { LiveSession } from "./LiveSession.ts"
import { MessageRepo } from "./MessageRepo.ts"
import { Messages } from "./Messages.ts"
import { SendWatch } from "./SendWatch.ts"
import { Unsent } from "./Unsent.ts"

const repos = Layer.mergeAll(ChannelRepo.Default, ChatRepo.Default, MessageRepo.Default)

/** Channels, messages and replies: services for both APIs of the gateway, and the actors of the channels. */
export const layer = (options: { readonly pollInterval: Duration.Duration }) => {
  const services = Layer.mergeAll(Channels.layer, Chats.layer, Messages.layer).pipe(
    Layer.provideMerge(Layer.mergeAll(AiLogs.layer, AiSettings.layer).pipe(Layer.provide(AiLogRepo.Default))),
    Layer.provideMerge(SendWatch.layer)
  )
  const actorServices = Layer.mergeAll(
    LiveSession.layer,
    Unsent.layer,
    AutoReply.layer.pipe(Layer.provide([AiLogRepo.Default, ChannelReplies.layer]))
  )
  const actors = Layer.mergeAll(ChannelEntity.layer(options), WakeChannels.layer).pipe(Layer.provide(actorServices))
  return actors.pipe(Layer.provideMerge(services), Layer.provide(WakeChannels.waker), Layer.provide(repos))
}
