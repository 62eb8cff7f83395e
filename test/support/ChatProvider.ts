import { createServer, type RequestListener, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { Duration, Effect, Option, Redacted } from "effect"
import * as ChatCompletions from "../../src/reply/chat-completions/ChatCompletions.ts"
import type { ChatRequest } from "../../src/reply/ChatModel.ts"
import { start } from "../../src/simulator/chat-completions/ChatCompletionsSimulator.ts"
import { call } from "./Api.ts"

/** The driver as the program uses it. */
export const driver = ChatCompletions.layer({ callsAtOnce: 32 })

export const providerKey = "sk-key-of-the-tests"

export const chatRequest = (baseUrl: string, more: Partial<ChatRequest> = {}): ChatRequest => ({
  baseUrl,
  apiKey: Redacted.make(providerKey),
  model: "m-1",
  turns: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Do you deliver?" }
  ],
  temperature: Option.none(),
  maxTokens: Option.none(),
  timeout: Duration.seconds(10),
  patience: Duration.seconds(30),
  ...more
})

/** A simulator of its own, and its control API. */
export const chatProvider = Effect.gen(function* () {
  const { url } = yield* Effect.orDie(start({ port: 0, apiKey: Option.some(providerKey) }))
  const control = (method: string, path: string, body?: unknown) => call(method, `${url}/_control${path}`, { body })
  return {
    url,
    script: (answer: object) => control("POST", "/answers", answer),
    requests: Effect.map(control("GET", "/requests"), ({ body }) => body),
    reset: control("DELETE", "")
  }
})

const portOf = (server: Server) => {
  const address = server.address()
  return typeof address === "object" && address !== null ? (address satisfies AddressInfo).port : 0
}

/** A bare server for what no provider should do. */
export const faultyProvider = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.async<Server>((resume) => {
      const server = createServer(listener)
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  ).pipe(Effect.map((server) => `http://127.0.0.1:${portOf(server)}`))
