import { Entity } from "@effect/cluster"
import { Rpc } from "@effect/rpc"
import { Effect, FiberHandle, Schedule } from "effect"
import { AppId } from "../../catalog/domain/App.ts"
import { supervise } from "../../kit/Supervise.ts"
import { AppAgenda } from "../AppAgenda.ts"

/** One entity per app: the only one that does what the app has to do by itself, wherever it runs. `Wake`: look again. */
export const AppEntity = Entity.make("App", [Rpc.make("Wake")])

/** Rests when nothing was due for this long; the due rows bring it back. */
const maxIdleTime = "5 minutes"

export const layer = AppEntity.toLayer(
  Effect.gen(function* () {
    const address = yield* Entity.CurrentAddress
    const agenda = yield* AppAgenda
    const id = AppId.make(address.entityId)
    const working = yield* FiberHandle.make()
    const work = Effect.repeat(agenda.work(id), { schedule: Schedule.spaced("100 millis"), while: (done) => done > 0 })
    return AppEntity.of({
      Wake: () => Effect.asVoid(FiberHandle.run(working, supervise("AppWork", work), { onlyIfMissing: true }))
    })
  }),
  { maxIdleTime }
)
