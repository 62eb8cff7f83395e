import { Context, type Effect } from "effect"
import type { ChannelId } from "./domain/Channel.ts"

/** Port: tells the owner of a channel to look again: its status changed, or there is something to send or to answer. */
export class ChannelWaker extends Context.Tag("gatehouse/channel/ChannelWaker")<
  ChannelWaker,
  { readonly wake: (id: ChannelId) => Effect.Effect<void> }
>() {}
