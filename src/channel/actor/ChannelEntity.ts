import { Entity } from "@effect/cluster"
import { Rpc } from "@effect/rpc"
import { Duration, Effect, FiberMap, Hash, Option, Schedule, Schema } from "effect"
import { supervise, survived } from "../../kit/Supervise.ts"
import { ChannelId } from "../domain/Channel.ts"
import * as ChannelActor from "./ChannelActor.ts"

const lanes = 128

/** The lane of a channel: the address at which it lives. */
export const laneOf = (id: ChannelId): string => `lane-${Math.abs(Hash.string(id)) % lanes}`

/**
 * Channels share entities, many to a lane: the lane is the only one that polls them and sends for them, wherever it runs.
 * An entity for each channel would cost more memory than the channel itself. `Wake`: look at these channels again.
 */
export const ChannelEntity = Entity.make("Channels", [Rpc.make("Wake", { payload: { ids: Schema.Array(ChannelId) } })])

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

export const layer = ChannelEntity.toLayer(
  Effect.gen(function* () {
    const { wake } = yield* ChannelActor.make
    const alone = yield* FiberMap.make<ChannelId>()

    /** One that cannot be woken harms no other: each is tried by itself until it can. */
    const wakeAlone = (id: ChannelId) =>
      FiberMap.run(alone, id, supervise("channel wake", wake([id])), { onlyIfMissing: true })

    return ChannelEntity.of({
      Wake: ({ payload: { ids } }) =>
        Effect.flatMap(
          survived("channel wake", wake(ids)),
          Option.match({
            onNone: () => Effect.forEach(ids, wakeAlone, { discard: true }),
            onSome: () => Effect.void
          })
        )
    })
  }),
  { maxIdleTime, defectRetryPolicy }
)
