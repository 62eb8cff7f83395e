import { PlatformConfigProvider } from "@effect/platform"
import { NodeContext, NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Cause, Console, Effect, Layer, Logger } from "effect"
import { cli } from "./cli/Gatehouse.ts"
import { logLevel } from "./Config.ts"

const logging = Layer.merge(
  process.stdout.isTTY ? Logger.pretty : Logger.json,
  Layer.unwrapEffect(Effect.map(logLevel, Logger.minimumLogLevel))
)

const settings = PlatformConfigProvider.layerDotEnvAdd(".env").pipe(Layer.provide(NodeContext.layer))

/** One line for the operator, whatever went wrong: never a stack trace. */
const report = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  const message = error instanceof Error && error.message !== "" ? error.message : String(error)
  return Cause.isInterruptedOnly(cause) ? Effect.void : Console.error(`gatehouse: ${message.split("\n", 1)[0]}`)
}

const program = cli(process.argv).pipe(
  Effect.tapErrorCause(report),
  Effect.provide(Layer.mergeAll(NodeContext.layer, NodeHttpClient.layerUndici, logging)),
  Effect.provide(settings)
)

NodeRuntime.runMain(program, { disableErrorReporting: true, disablePrettyLogger: true })
