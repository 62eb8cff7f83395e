import { Effect } from "effect"

/*
 * What a command runs is loaded by that command: `healthcheck`, `simulate control` and `--help` start without the
 * program behind them.
 */

export const program = Effect.promise(() => import("../Program.ts"))
export const migrations = Effect.promise(() => import("../sql/Migrations.ts"))
export const schemaDump = Effect.promise(() => import("../sql/SchemaDump.ts"))
export const docs = Effect.promise(() => import("../http/Docs.ts"))
export const identity = Effect.promise(async () => ({
  ...(await import("../identity/Accounts.ts")),
  ...(await import("../identity/OperatorTokens.ts"))
}))

export const storeASimulator = Effect.promise(() => import("../simulator/store-a/StoreASimulator.ts"))
export const storeBSimulator = Effect.promise(() => import("../simulator/store-b/StoreBSimulator.ts"))
export const platformASimulator = Effect.promise(() => import("../simulator/platform-a/PlatformASimulator.ts"))
export const platformBSimulator = Effect.promise(() => import("../simulator/platform-b/PlatformBSimulator.ts"))
export const providerSimulator = Effect.promise(
  () => import("../simulator/chat-completions/ChatCompletionsSimulator.ts")
)
export const demoReceiver = Effect.promise(() => import("../simulator/DemoReceiver.ts"))
