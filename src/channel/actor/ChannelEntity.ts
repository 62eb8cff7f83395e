import { Entity } from "@effect/cluster"
import { Rpc } from "@effect/rpc"
import { Duration, Effect, Exit, Hash, Schedule, Scope } from "effect"
import { supervise } from "../../kit/Supervise.ts"
import { ChannelId } from "../domain/Channel.ts"
import * as ChannelActor from "./ChannelActor.ts"

const lanes = 128

/** The lane of a channel: the address at which it lives. */
export const laneOf = (id: ChannelId): string => `lane-${Math.abs(Hash.string(id)) % lanes}`

/**
 * Channels share entities, many to a lane: the lane is the only one that polls them and sends for them, wherever it runs.
 * An entity for each channel would cost three times as much memory as the channel. `Wake`: look at this channel again.
 */
export const ChannelEntity = Entity.make("Channels", [Rpc.make("Wake", { payload: { id: ChannelId } })])

/**
 * A lane lives by the loops of its channels, not by messages to it. `Entity.keepAlive` would say so only where the cluster
 * stores messages, which one process does without.
 */
const maxIdleTime = Duration.infinity

/** After a defect of the entity itself; the loops have supervisors of their own. */
const defectRetryPolicy = Schedule.exponential("1 second").pipe(
  Schedule.union(Schedule.spaced("1 minute")),
  Schedule.jittered
)

interface Living {
  readonly actor: ChannelActor.ChannelActor
  readonly scope: Scope.CloseableScope
}

export const layer = (options: { readonly pollInterval: Duration.Duration }) =>
  ChannelEntity.toLayer(
    Effect.gen(function* () {
      const lane = yield* Effect.scope
      const living = new Map<ChannelId, Living>()

      const born = Effect.fn("ChannelEntity.born")(function* (id: ChannelId) {
        const scope = yield* Scope.fork(lane, { _tag: "Sequential" })
        const actor = yield* Scope.extend(ChannelActor.make(id, options), scope)
        const one = { actor, scope }
        living.set(id, one)
        return one
      })

      /** A channel that is not connected any more leaves nothing behind. */
      const wake = Effect.fn("ChannelEntity.wake")(function* (id: ChannelId) {
        const { actor, scope } = living.get(id) ?? (yield* born(id))
        if (yield* actor.wake) return
        living.delete(id)
        yield* Scope.close(scope, Exit.void)
      })

      return ChannelEntity.of({ Wake: ({ payload }) => supervise("channel wake", wake(payload.id)) })
    }),
    { maxIdleTime, defectRetryPolicy }
  )
