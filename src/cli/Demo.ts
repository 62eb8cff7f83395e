import { Command, Options } from "@effect/cli"
import { Command as Process, FileSystem, HttpClient, HttpClientRequest, Path } from "@effect/platform"
import { Console, Data, Effect, Option, Redacted, Schedule, Schema, Stream } from "effect"
import type * as DemoReceiver from "../simulator/DemoReceiver.ts"
import type { StoreASimulator } from "../simulator/store-a/StoreASimulator.ts"
import { demoReceiver, platformBSimulator, providerSimulator, storeASimulator } from "./Loaded.ts"

class DemoFailed extends Data.TaggedError("DemoFailed")<{ readonly message: string }> {}

const operator = { email: "operator@example.com", password: "correct horse battery staple" }
const port = 8088
const base = `http://127.0.0.1:${port}`

type Json = { readonly [key: string]: unknown }
const JsonObject = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))

const shortened = (text: string) => (text.length > 400 ? `${text.slice(0, 400)} …` : text)

/** Walks into an answer: `at(answer, "data", "token")`. */
const at = (value: unknown, ...path: ReadonlyArray<string>): string => {
  const [key, ...rest] = path
  if (key === undefined) return typeof value === "string" ? value : JSON.stringify(value)
  return typeof value === "object" && value !== null
    ? at(Object.entries(value).find(([name]) => name === key)?.[1], ...rest)
    : ""
}

const call = Effect.fn("Demo.call")(function* (
  method: "GET" | "POST" | "PUT",
  url: string,
  options: { readonly token?: string; readonly body?: Json; readonly quiet?: boolean } = {}
) {
  const request = HttpClientRequest.make(method)(url).pipe(
    options.token === undefined ? (same) => same : HttpClientRequest.bearerToken(options.token),
    options.body === undefined ? (same) => same : HttpClientRequest.bodyUnsafeJson(options.body)
  )
  const response = yield* HttpClient.execute(request)
  const text = yield* response.text
  if (options.quiet !== true) {
    yield* Console.log(`    ${method} ${url}\n    ${response.status} ${shortened(text)}`)
  }
  if (response.status >= 300)
    return yield* new DemoFailed({ message: `${method} ${url} answered ${response.status}: ${text}` })
  return yield* Effect.orElseSucceed(Schema.decode(JsonObject)(text), (): Json => ({}))
})

const say = (text: string) => Console.log(`\n  ${text}`)

const until = <A, E, R>(what: string, look: Effect.Effect<Option.Option<A>, E, R>) =>
  look.pipe(
    Effect.flatMap(
      Option.match({ onNone: () => new DemoFailed({ message: `${what} did not happen` }), onSome: Effect.succeed })
    ),
    Effect.retry(Schedule.spaced("150 millis").pipe(Schedule.upTo("20 seconds")))
  )

const expectEvents = Effect.fn("Demo.expectEvents")(function* (
  receiver: Effect.Effect.Success<ReturnType<typeof DemoReceiver.start>>,
  expected: ReadonlyArray<string>
) {
  let open: ReadonlyArray<string> = expected
  while (open.length > 0) {
    const { event, isGenuine } = yield* receiver.next.pipe(
      Effect.timeoutFail({
        duration: "20 seconds",
        onTimeout: () => new DemoFailed({ message: `no webhook ${open.join(", ")} came` })
      })
    )
    yield* Console.log(`    webhook ${event}, signature ${isGenuine ? "verified" : "WRONG"}`)
    if (!isGenuine) return yield* new DemoFailed({ message: `the signature of ${event} is wrong` })
    open = open.filter((name) => name !== event)
  }
})

const startProgram = Effect.fn("Demo.startProgram")(function* (env: Record<string, string>) {
  const [, entry = ""] = yield* Effect.sync(() => process.argv)
  const running = yield* Process.make(process.execPath, entry, "serve").pipe(
    Process.env({ ...env, LOG_LEVEL: "warning" }),
    Process.start
  )
  const output = Stream.merge(running.stdout, running.stderr).pipe(Stream.decodeText(), Stream.splitLines)
  yield* Effect.forkScoped(Stream.runForEach(output, (line) => Console.error(`    [program] ${line}`)))
  yield* HttpClient.get(`${base}/readyz`).pipe(
    Effect.filterOrFail(({ status }) => status === 200),
    Effect.retry(Schedule.spaced("100 millis").pipe(Schedule.upTo("20 seconds"))),
    Effect.mapError(() => new DemoFailed({ message: "the program did not become ready" }))
  )
})

const purchase = Effect.fn("Demo.purchase")(function* (storeA: StoreASimulator) {
  const receiver = yield* Effect.flatMap(demoReceiver, ({ start }) => start())
  yield* say("1. A purchase becomes an entitlement")
  yield* say("A team registers and describes its app:")
  const registered = yield* call("POST", `${base}/api/v1/auth/register`, {
    body: { name: "Ann", email: "ann@example.com", password: "eight characters" },
    quiet: true
  })
  const token = at(registered, "data", "token")
  const created = yield* call("POST", `${base}/api/v1/apps`, {
    token,
    body: { name: "Notes", bundle_id: "com.example.notes" }
  })
  const [app, key] = [at(created, "data", "uuid"), at(created, "data", "public_api_key")]
  yield* call("POST", `${base}/api/v1/apps/${app}/products`, {
    token,
    body: {
      store: "store_a",
      identifier: "pro.monthly",
      name: "Pro",
      type: "subscription",
      subscription_period: "P1M",
      price: 9.99,
      currency: "USD"
    }
  })
  yield* call("POST", `${base}/api/v1/apps/${app}/entitlements`, {
    token,
    body: { identifier: "pro", name: "Pro", product_identifiers: ["pro.monthly"] }
  })
  const webhook = yield* call("POST", `${base}/api/v1/apps/${app}/webhooks`, {
    token,
    body: { url: receiver.url },
    quiet: true
  })
  yield* receiver.trust(Redacted.make(at(webhook, "data", "secret")))
  yield* say("Somebody buys in store A, which notifies the program with a signed payload:")
  const user = "0d2f7a4e-7c1b-4a9e-8f0a-944455556666"
  const bought = yield* call("POST", `${storeA.url}/_control/purchases`, {
    body: {
      bundle_id: "com.example.notes",
      product_id: "pro.monthly",
      app_account_token: user,
      notification_url: `${base}/api/v1/stores/store_a/notifications/${app}`
    },
    quiet: true
  })
  yield* Console.log(`    the program answered ${at(bought, "receiver", "body")}`)
  yield* say("The phone asks with the app's public key:")
  const subscriber = yield* call("GET", `${base}/api/v1/client/subscribers/${user}`, { token: key })
  if (at(subscriber, "subscriber", "entitlements", "pro", "is_active") !== "true") {
    return yield* new DemoFailed({ message: "the entitlement is not active" })
  }
  yield* say("The team's backend hears of it:")
  yield* expectEvents(receiver, ["customer.created", "subscription.started"])
})

const conversation = Effect.fn("Demo.conversation")(function* (platformB: string, provider: string) {
  const receiver = yield* Effect.flatMap(demoReceiver, ({ start }) => start())
  yield* say("2. A message is answered")
  const login = yield* call("POST", `${base}/v1/auth/login`, { body: operator, quiet: true })
  const token = at(login, "data", "token")
  const account = yield* call("POST", `${base}/v1/accounts`, {
    token,
    body: { name: "Shop", platform: "platform_b" },
    quiet: true
  })
  const id = at(account, "data", "id")
  const webhook = yield* call("POST", `${base}/v1/accounts/${id}/webhooks`, {
    token,
    body: { url: receiver.url },
    quiet: true
  })
  yield* receiver.trust(Redacted.make(at(webhook, "data", "secret")))
  yield* say("The operator turns AI replies on and connects a channel by its credentials:")
  yield* call("PUT", `${base}/v1/ai/global`, {
    token,
    body: {
      enabled: true,
      base_url: `${provider}/v1`,
      api_key: "sk-demo",
      model_name: "demo",
      default_system_prompt: "You are the shop's assistant.",
      reply_delay_seconds: 0
    }
  })
  yield* call("POST", `${platformB}/_control/accounts`, { body: { username: "shop", password: "s3cret" }, quiet: true })
  yield* call("POST", `${base}/v1/accounts/${id}/connect`, { token, body: { username: "shop", password: "s3cret" } })
  yield* until(
    "the first poll",
    Effect.map(call("GET", `${base}/v1/accounts/${id}`, { token, quiet: true }), (found) =>
      Option.liftPredicate(at(found, "data", "last_synced_at"), (text) => text !== "null" && text !== "")
    )
  )
  yield* say("A customer writes a direct message:")
  yield* call("POST", `${platformB}/_control/messages`, {
    body: { from: "carla", to: "shop", text: "Are you open on Sunday?" }
  })
  yield* say("It is stored, answered and told:")
  yield* expectEvents(receiver, [
    "connection.connected",
    "chat.created",
    "message.received",
    "ai.reply.generated",
    "message.sent",
    "ai.reply.sent"
  ])
  yield* say("What the customer sees:")
  const threads = yield* HttpClient.get(`${platformB}/_control/threads`).pipe(
    Effect.flatMap((response) => response.text)
  )
  yield* Console.log(`    ${shortened(threads)}`)
  if (!threads.includes("Thank you for your message")) return yield* new DemoFailed({ message: "no reply arrived" })
})

const once = Options.boolean("once").pipe(Options.withDescription("Exit when both stories are told"))

export const demoCommand = Command.make("demo", { once }, ({ once }) =>
  Effect.scoped(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const directory = yield* fs.makeTempDirectoryScoped({ prefix: "gatehouse-demo-" })
      yield* fs.chmod(directory, 0o755)
      const StoreA = yield* storeASimulator
      const PlatformB = yield* platformBSimulator
      const ChatCompletions = yield* providerSimulator
      const storeA = yield* StoreA.start({ port: 0, notificationUrl: Option.none() })
      const platformB = yield* PlatformB.start({ port: 0 })
      const provider = yield* ChatCompletions.start({ port: 0, apiKey: Option.some("sk-demo") })
      const root = path.join(directory, "root.pem")
      yield* fs.writeFileString(root, storeA.rootPem)
      yield* say("Starting the program on a database of its own …")
      yield* startProgram({
        PORT: String(port),
        DATA_DIR: path.join(directory, "data"),
        OPERATOR_EMAIL: operator.email,
        OPERATOR_PASSWORD: operator.password,
        STORE_A_ROOT_CERTIFICATES: root,
        PLATFORM_B_URL: platformB.url,
        PLATFORM_B_POLL_SECONDS: "1",
        WEBHOOK_ALLOW_PRIVATE: "true"
      })
      yield* purchase(storeA)
      yield* conversation(platformB.url, provider.url)
      yield* say("Both jobs are done.")
      if (once) return
      yield* say(`The program stays open at ${base} (API reference at ${base}/docs). Stop with Ctrl-C.`)
      yield* Console.log(
        `  store A ${storeA.url}, platform_b ${platformB.url}, provider ${provider.url}; operator ${operator.email} / ${operator.password}`
      )
      return yield* Effect.never
    })
  )
).pipe(Command.withDescription("Play both main jobs against simulators and show every step"))
