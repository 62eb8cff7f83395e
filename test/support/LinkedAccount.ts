import { NodeContext, NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import * as PlatformA from "../../src/simulator/platform-a/PlatformASimulator.ts"
import { call } from "./Api.ts"
import * as HookLedger from "./HookLedger.ts"
import { eventually, operatorToken } from "./Story.ts"
import * as TestDatabase from "./TestDatabase.ts"

const services = Layer.merge(NodeContext.layer, NodeHttpClient.layerUndici)

/** A simulated platform_a beside a receiver and a database that outlives the program, and settings that point there. */
export const phonesBeside = Effect.fn(
  function* (receiver: Effect.Effect.Success<typeof HookLedger.start>, databaseUrl: string) {
    const platform = yield* PlatformA.start({ port: 0 })
    const env = { DATABASE_URL: databaseUrl, PLATFORM_A_URL: platform.socketUrl }
    const control = (path: string, body?: unknown) =>
      call(body === undefined ? "GET" : "POST", `${platform.url}/_control${path}`, body === undefined ? {} : { body })
    return { platform, receiver, env, control }
  },
  Effect.provide(services),
  Effect.orDie
)

export const makePhones = Effect.gen(function* () {
  return yield* phonesBeside(yield* HookLedger.start, yield* TestDatabase.url)
})

export type Phones = Effect.Effect.Success<typeof makePhones>

/** The first delivery of an event that satisfies, once it is there. */
export const told = (
  phones: Phones,
  event: string,
  is: (data: { readonly [key: string]: unknown }) => boolean = () => true
) =>
  eventually(
    Effect.sync(() => phones.receiver.ledger.find((hook) => hook.event === event && is(hook.data.data))?.data.data),
    event
  )

/** Each once, however often it was delivered around a crash. */
export const eventsOf = (phones: Phones, pattern: RegExp) => {
  const once = new Map(phones.receiver.ledger.map(({ event, headers }) => [headers["x-webhook-event-id"], event]))
  return [...once.values()].filter((event) => pattern.test(event))
}

/** An account of platform_a with a webhook. */
export const makeAccount = Effect.fn(function* (
  phones: Phones,
  url: string,
  { ordered = false }: { readonly ordered?: boolean } = {}
) {
  const token = yield* operatorToken(url)
  const account = yield* call("POST", `${url}/v1/accounts`, { token, body: { name: "Shop" } })
  const id: string = account.body.data.id
  yield* call("POST", `${url}/v1/accounts/${id}/webhooks`, { token, body: { url: phones.receiver.url, ordered } })
  const at = (method: string, path = "", body?: unknown, headers: Record<string, string> = {}) =>
    call(method, `${url}/v1/accounts/${id}${path}`, { token, headers, ...(body === undefined ? {} : { body }) })
  const operator = (method: string, path: string, body: unknown) => call(method, `${url}${path}`, { token, body })
  const status = Effect.map(at("GET"), ({ body }): string => body.data.status)
  const becomes = (wanted: string) =>
    eventually(
      Effect.map(status, (found) => (found === wanted ? found : undefined)),
      `status ${wanted}`
    )
  const send = (to: string, text: string) =>
    call("POST", `${url}/v1/messages/text`, { token: account.body.data.token, body: { to, body: text } })
  return { id, at, operator, status, becomes, send, token, channelToken: account.body.data.token as string }
})

export type Account = Effect.Effect.Success<ReturnType<typeof makeAccount>>

/** Linked by scanning its QR code. */
export const linkByQr = Effect.fn(function* (phones: Phones, account: Account, phone: string) {
  const connecting = yield* account.at("POST", "/connect", {})
  const scanned = yield* phones.control("/scan", { qr: connecting.body.data.qr, phone })
  if (scanned.status !== 200) return yield* Effect.dieMessage(`no scan: ${JSON.stringify(connecting.body)}`)
  yield* account.becomes("connected")
  return connecting
})
