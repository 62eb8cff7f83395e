import { Command, Options } from "@effect/cli"
import { FileSystem, Path } from "@effect/platform"
import { Console, Effect, Option } from "effect"
import * as ChatCompletions from "../simulator/chat-completions/ChatCompletionsSimulator.ts"
import * as PlatformB from "../simulator/platform-b/PlatformBSimulator.ts"
import * as StoreB from "../simulator/store-b/StoreBSimulator.ts"
import * as StoreA from "../simulator/store-a/StoreASimulator.ts"

const port = (name: string, fallback: number, what: string) =>
  Options.integer(name).pipe(
    Options.withDefault(fallback),
    Options.withDescription(`Port of ${what}; 0 takes a free one`)
  )

const options = {
  storeAPort: port("store-a-port", 9101, "store A"),
  platformBPort: port("platform-b-port", 9102, "platform_b"),
  providerPort: port("provider-port", 9103, "the chat-completions provider"),
  storeBPort: port("store-b-port", 9104, "store B"),
  rootFile: Options.text("root-file").pipe(
    Options.withDefault("./data/simulated-root.pem"),
    Options.withDescription("Where store A's root certificate is written")
  ),
  notificationUrl: Options.text("notification-url").pipe(
    Options.optional,
    Options.withDescription("Where store A sends its notifications unless a purchase names another place")
  ),
  storeBNotificationUrl: Options.text("store-b-notification-url").pipe(
    Options.optional,
    Options.withDescription("Where store B pushes to unless a purchase names another place")
  )
}

export const simulateCommand = Command.make("simulate", options, (chosen) =>
  Effect.scoped(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const storeA = yield* StoreA.start({ port: chosen.storeAPort, notificationUrl: chosen.notificationUrl })
      const storeB = yield* StoreB.start({ port: chosen.storeBPort, notificationUrl: chosen.storeBNotificationUrl })
      const platformB = yield* PlatformB.start({ port: chosen.platformBPort })
      const provider = yield* ChatCompletions.start({ port: chosen.providerPort, apiKey: Option.none() })
      yield* fs.makeDirectory(path.dirname(chosen.rootFile), { recursive: true })
      yield* fs.writeFileString(chosen.rootFile, storeA.rootPem)
      yield* Console.log(
        [
          `store A        ${storeA.url}`,
          `store B        ${storeB.url}`,
          `platform_b     ${platformB.url}`,
          `provider       ${provider.url}/v1`,
          "",
          "Start the program with:",
          `  STORE_A_ROOT_CERTIFICATES=${chosen.rootFile} STORE_B_API_URL=${storeB.url} \\`,
          `  STORE_B_PUSH_JWKS_URL=${storeB.pushKeysUrl} PLATFORM_B_URL=${platformB.url} WEBHOOK_ALLOW_PRIVATE=true`
        ].join("\n")
      )
      return yield* Effect.never
    })
  )
).pipe(Command.withDescription("Stand in for store A, store B, platform_b and a chat-completions provider"))
