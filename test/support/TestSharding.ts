import { MessageStorage, RunnerHealth, Runners, RunnerStorage, Sharding, ShardingConfig } from "@effect/cluster"
import { Layer } from "effect"

/** Actors of one process, as the program runs them. */
export const layer = Sharding.layer.pipe(
  Layer.provide([Runners.layerNoop, RunnerStorage.layerMemory, RunnerHealth.layerNoop]),
  Layer.provide(MessageStorage.layerNoop),
  Layer.provide(ShardingConfig.layer({ simulateRemoteSerialization: false }))
)
