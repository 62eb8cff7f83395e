import { type Duration, Layer } from "effect"
import { AiLogRepo } from "../reply/AiLogRepo.ts"
import { AiLogs } from "../reply/AiLogs.ts"
import { AiSettings } from "../reply/AiSettings.ts"
import { AlertRepo } from "../reply/AlertRepo.ts"
import { AutoReply } from "../reply/AutoReply.ts"
import { NextSteps } from "../reply/NextSteps.ts"
import { LastLook } from "../reply/LastLook.ts"
import { ReplyJobRepo } from "../reply/ReplyJobRepo.ts"
import * as ReplyQueue from "../reply/ReplyQueue.ts"
import { ReplyWriter } from "../reply/ReplyWriter.ts"
import { Rules } from "../reply/Rules.ts"
import { TrialReply } from "../reply/TrialReply.ts"
import * as ChannelEntity from "./actor/ChannelEntity.ts"
import { PollLoop } from "./actor/PollLoop.ts"
import * as WakeChannels from "./actor/WakeChannels.ts"
import { ChannelRepo } from "./ChannelRepo.ts"
import * as ChannelReplies from "./ChannelReplies.ts"
import { Channels } from "./Channels.ts"
import { ChannelSessions } from "./ChannelSessions.ts"
import { ChatRepo } from "./ChatRepo.ts"
import { Chats } from "./Chats.ts"
import { LinkedChannels } from "./LinkedChannels.ts"
import { Linking } from "./Linking.ts"
import { MessageRepo } from "./MessageRepo.ts"
import { Messages } from "./Messages.ts"
import { QuietPolls } from "./QuietPolls.ts"
import { RequestedReplies } from "./RequestedReplies.ts"
import { SendGate } from "./SendGate.ts"
import { SendQueue } from "./SendQueue.ts"
import { SentMessages } from "./SentMessages.ts"
import { SendWatch } from "./SendWatch.ts"
import { TextMessages } from "./TextMessages.ts"
import { TypingSigns } from "./TypingSigns.ts"

const repos = Layer.mergeAll(
  ChannelRepo.Default,
  ChatRepo.Default,
  MessageRepo.Default,
  AiLogRepo.Default,
  ReplyJobRepo.Default,
  AlertRepo.Default
)

const messages = TextMessages.layer.pipe(
  Layer.provideMerge(Messages.layer),
  Layer.provideMerge(SentMessages.layer),
  Layer.provideMerge(Layer.mergeAll(AiLogs.layer, SendWatch.layer, SendQueue.layer, QuietPolls.layer)),
  Layer.provideMerge(repos)
)

/** What callers and actors use of the channel and reply contexts; wants the waker and the outside world. */
export const services = Layer.mergeAll(
  Linking.layer.pipe(Layer.provideMerge(Channels.layer)),
  Chats.layer,
  ChannelSessions.layer,
  LinkedChannels.layer,
  RequestedReplies.layer,
  SendGate.layer
).pipe(
  Layer.provideMerge(Layer.mergeAll(AutoReply.layer, LastLook.layer, TrialReply.layer)),
  Layer.provideMerge(NextSteps.layer),
  Layer.provideMerge(Layer.mergeAll(Rules.layer, ReplyWriter.layer)),
  Layer.provideMerge(ChannelReplies.layer),
  Layer.provideMerge(Layer.merge(AiSettings.layer, TypingSigns.layer)),
  Layer.provideMerge(messages)
)

/** Both contexts with their actors. */
export const layer = (options: { readonly pollInterval: Duration.Duration }) =>
  Layer.mergeAll(
    Layer.provide(ChannelEntity.layer, PollLoop.layer({ interval: options.pollInterval })),
    WakeChannels.layer(options),
    ReplyQueue.layer
  ).pipe(Layer.provideMerge(services), Layer.provide(WakeChannels.waker))
