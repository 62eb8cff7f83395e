import { Singleton } from "@effect/cluster"
import { Effect, Layer, Schedule } from "effect"
import { supervise } from "../../kit/Supervise.ts"
import { ChannelRepo } from "../ChannelRepo.ts"
import { ChannelWaker } from "../ChannelWaker.ts"
import { ChannelEntity } from "./ChannelEntity.ts"

/** Wake-ups by entity address. A lost one is made up for by the singleton below. */
export const waker = Layer.effect(
  ChannelWaker,
  Effect.map(ChannelEntity.client, (clientOf) =>
    ChannelWaker.of({
      wake: (id) =>
        clientOf(id)
          .Wake()
          .pipe(
            Effect.timeout("5 seconds"),
            Effect.catchAll((error) => Effect.logDebug("a channel could not be woken", error))
          )
    })
  )
)

const wakeConnected = Effect.gen(function* () {
  const repo = yield* ChannelRepo
  const channels = yield* ChannelWaker
  const connected = yield* repo.connected()
  yield* Effect.forEach(connected, ({ id }) => channels.wake(id), { concurrency: 16, discard: true })
})

/** At the start, and every minute as a safety net, makes sure that every connected channel lives. */
export const layer = Singleton.make(
  "WakeChannels",
  supervise("WakeChannels", Effect.asVoid(Effect.repeat(wakeConnected, Schedule.spaced("1 minute"))))
)
