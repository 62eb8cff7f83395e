import { NodeContext, NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { layer as driver } from "../../src/platform/platform-b/PlatformBDriver.ts"
import { start } from "../../src/simulator/platform-b/PlatformBSimulator.ts"
import { call } from "./Api.ts"

/** A simulator of its own with the real driver pointed at it. */
export const platformBSide = Effect.gen(function* () {
  const { url } = yield* Effect.provide(start({ port: 0 }), NodeContext.layer).pipe(Effect.orDie)
  let count = 0
  const control = (path: string, body: unknown) => call("POST", `${url}/_control${path}`, { body })
  return {
    url,
    control,
    driver: driver({ baseUrl: url }).pipe(Layer.provide(NodeHttpClient.layerUndici)),
    side: {
      account: (options: { readonly twoFactorCode?: string; readonly challengeCode?: string } = {}) => {
        const account = { username: `shop${++count}`, password: "s3cret-of-the-shop" }
        const codes = { two_factor_code: options.twoFactorCode, challenge_code: options.challengeCode }
        return Effect.as(control("/accounts", { ...account, ...codes }), account)
      },
      write: (from: string, to: string, text: string, options: { readonly request?: boolean } = {}) =>
        Effect.asVoid(control("/messages", { from, to, text, ...options })),
      textsOf: (username: string) =>
        Effect.map(call("GET", `${url}/_control/threads`), ({ body }) =>
          body
            .filter(({ members }: { members: Array<string> }) => members.includes(username))
            .flatMap(({ items }: { items: Array<{ text: string }> }) => items.map(({ text }) => text))
        )
    }
  }
})
