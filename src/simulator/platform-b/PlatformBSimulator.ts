import { HttpRouter } from "@effect/platform"
import { Effect } from "effect"
import { listen } from "../SimulatorServer.ts"
import { makeControlRoutes } from "./ControlRoutes.ts"
import { makeDirectRoutes, type Switches } from "./DirectRoutes.ts"
import { makeLoginRoutes } from "./LoginRoutes.ts"
import { makeScript } from "../Script.ts"
import { makeWorld } from "./World.ts"

/**
 * Stands in for platform_b's private API, for any number of accounts and people. Repeated sends with one `client_context`
 * are one message unless `deduplicates` is false. Control API under `/_control`.
 */
export const start = Effect.fn("PlatformBSimulator.start")(function* (options: {
  readonly port: number
  readonly deduplicates?: boolean
}) {
  const world = makeWorld()
  const script = makeScript()
  const switches: Switches = { deduplicates: options.deduplicates ?? true }
  const app = HttpRouter.empty.pipe(
    HttpRouter.concat(makeLoginRoutes(world)),
    HttpRouter.concat(makeDirectRoutes(world, switches)),
    HttpRouter.mount("/_control", makeControlRoutes(world, script, switches))
  )
  return yield* listen(script.apply(app), options.port)
})
