import { Command, Options } from "@effect/cli"
import { FileSystem, Path } from "@effect/platform"
import { Console, Effect, Either, Option } from "effect"
import {
  platformASimulator,
  platformBSimulator,
  providerSimulator,
  storeASimulator,
  storeBSimulator
} from "./Loaded.ts"
import { controlCommand } from "./SimulateControl.ts"

const port = (name: string, fallback: number, what: string) =>
  Options.integer(name).pipe(
    Options.withDefault(fallback),
    Options.withDescription(`Port of ${what}; 0 takes a free one`)
  )

const secondsPerMonth = Options.float("seconds-per-month").pipe(
  Options.optional,
  Options.withDescription("How long a simulated month lasts; without it as long as in the calendar")
)

const notificationUrl = (name: string, store: string) =>
  Options.text(name).pipe(
    Options.optional,
    Options.withDescription(`Where ${store} sends its notifications unless a purchase names another place`)
  )

const rootFile = Options.text("root-file").pipe(
  Options.withDefault("./data/simulated-root.pem"),
  Options.withDescription("Where store A's root certificate is written")
)

const storeAPort = port("store-a-port", 9101, "store A")
const storeBPort = port("store-b-port", 9104, "store B")

interface StoreOptions {
  readonly port: number
  readonly notificationUrl: Option.Option<string>
  readonly secondsPerMonth: Option.Option<number>
}

const paceOf = ({ secondsPerMonth }: StoreOptions) => ({ secondsPerMonth: Option.getOrNull(secondsPerMonth) })

const startStoreA = Effect.fn("Simulate.startStoreA")(function* (options: StoreOptions, file: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const StoreA = yield* storeASimulator
  const storeA = yield* StoreA.start({ ...options, ...paceOf(options) })
  yield* fs.makeDirectory(path.dirname(file), { recursive: true })
  yield* fs.writeFileString(file, storeA.rootPem)
  yield* Console.log(`store A        ${storeA.url}`)
  return `STORE_A_ROOT_CERTIFICATES=${file} STORE_A_API_URL=${storeA.url} STORE_A_SANDBOX_API_URL=${storeA.url}/sandbox`
})

const startStoreB = Effect.fn("Simulate.startStoreB")(function* (options: StoreOptions) {
  const StoreB = yield* storeBSimulator
  const storeB = yield* StoreB.start({ ...options, ...paceOf(options) })
  yield* Console.log(`store B        ${storeB.url}`)
  return `STORE_B_API_URL=${storeB.url} STORE_B_PUSH_JWKS_URL=${storeB.pushKeysUrl}`
})

const startingWith = (settings: ReadonlyArray<string>) =>
  Console.log(["", "Start the program with:", ...settings.map((one) => `  ${one} \\`)].join("\n").replace(/ \\$/, ""))

const storeACommand = Command.make(
  "store-a",
  {
    port: port("port", 9101, "store A"),
    notificationUrl: notificationUrl("notification-url", "it"),
    secondsPerMonth,
    rootFile
  },
  ({ rootFile, ...options }) =>
    Effect.scoped(
      Effect.gen(function* () {
        yield* startingWith([yield* startStoreA(options, rootFile)])
        return yield* Effect.never
      })
    )
).pipe(Command.withDescription("Stand in for store A alone"))

const storeBCommand = Command.make(
  "store-b",
  { port: port("port", 9104, "store B"), notificationUrl: notificationUrl("notification-url", "it"), secondsPerMonth },
  (options) =>
    Effect.scoped(
      Effect.gen(function* () {
        yield* startingWith([yield* startStoreB(options)])
        return yield* Effect.never
      })
    )
).pipe(Command.withDescription("Stand in for store B alone"))

const options = {
  storeAPort,
  platformAPort: port("platform-a-port", 9105, "platform_a"),
  platformBPort: port("platform-b-port", 9102, "platform_b"),
  providerPort: port("provider-port", 9103, "the chat-completions provider"),
  storeBPort,
  rootFile,
  notificationUrl: notificationUrl("notification-url", "store A"),
  storeBNotificationUrl: notificationUrl("store-b-notification-url", "store B"),
  secondsPerMonth
}

export const simulateCommand = Command.make("simulate", options, (chosen) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { rootFile, secondsPerMonth, storeAPort, storeBPort } = chosen
      const ofStoreA = yield* startStoreA(
        { port: storeAPort, notificationUrl: chosen.notificationUrl, secondsPerMonth },
        rootFile
      )
      const ofStoreB = yield* startStoreB({
        port: storeBPort,
        notificationUrl: chosen.storeBNotificationUrl,
        secondsPerMonth
      })
      const PlatformA = yield* platformASimulator
      const PlatformB = yield* platformBSimulator
      const ChatCompletions = yield* providerSimulator
      const platformB = yield* PlatformB.start({ port: chosen.platformBPort })
      const platformA = yield* Effect.either(PlatformA.start({ port: chosen.platformAPort }))
      const provider = yield* ChatCompletions.start({ port: chosen.providerPort, apiKey: Option.none() })
      yield* Console.log(`platform_b     ${platformB.url}\nprovider       ${provider.url}/v1`)
      yield* startingWith([
        ofStoreA,
        ofStoreB,
        ...Either.match(platformA, { onLeft: () => [], onRight: ({ socketUrl }) => [`PLATFORM_A_URL=${socketUrl}`] }),
        `PLATFORM_B_URL=${platformB.url} WEBHOOK_ALLOW_PRIVATE=true`
      ])
      return yield* Effect.never
    })
  )
).pipe(
  Command.withDescription("Stand in for store A, store B, both platforms and a chat-completions provider"),
  Command.withSubcommands([storeACommand, storeBCommand, controlCommand])
)
