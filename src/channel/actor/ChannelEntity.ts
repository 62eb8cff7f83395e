import { Entity } from "@effect/cluster"
import { Rpc } from "@effect/rpc"
import { Duration, Effect, Schedule } from "effect"
import { ChannelId } from "../domain/Channel.ts"
import * as ChannelActor from "./ChannelActor.ts"

/** One entity per channel: the only one that polls it and sends for it, wherever it runs. `Wake`: look at it again. */
export const ChannelEntity = Entity.make("Channel", [Rpc.make("Wake")])

/**
 * A channel lives by its loops, not by messages to it. `Entity.keepAlive` would say so only where the cluster stores
 * messages, which one process does without.
 */
const maxIdleTime = Duration.infinity

/** After a defect of the entity itself; its loops have supervisors of their own. */
const defectRetryPolicy = Schedule.exponential("1 second").pipe(
  Schedule.union(Schedule.spaced("1 minute")),
  Schedule.jittered
)

export const layer = (options: { readonly pollInterval: Duration.Duration }) =>
  ChannelEntity.toLayer(
    Effect.gen(function* () {
      const address = yield* Entity.CurrentAddress
      const actor = yield* ChannelActor.make(ChannelId.make(address.entityId), options)
      yield* actor.wake
      return ChannelEntity.of({ Wake: () => actor.wake })
    }),
    { maxIdleTime, defectRetryPolicy }
  )
