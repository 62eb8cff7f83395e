import { Context, Effect, Layer } from "effect"
import { type Answer, call } from "./Api.ts"
import * as Gatehouse from "./Gatehouse.ts"
import { buy, makeApp, makeWorld, type World } from "./Story.ts"

/** The program, with everything around it, that the scenarios of one file share. */
export class Program extends Context.Tag("test/Program")<Program, { readonly url: string; readonly world: World }>() {
  static readonly layer = Layer.scoped(
    Program,
    Effect.gen(function* () {
      const world = yield* makeWorld
      const { url } = yield* Gatehouse.serve(world.env)
      return { url, world }
    })
  ).pipe(Layer.orDie)
}

/** A team with an app of its own, and how it calls the program: under its app, and as a phone of the app. */
export const makeTeam = Effect.gen(function* () {
  const { url, world } = yield* Program
  const bundle = `com.example.b${crypto.randomUUID().slice(0, 8)}`
  const app = yield* makeApp(url, world.receiver.url, bundle)
  const under = `${url}/api/v1/apps/${app.id}`
  const ask = (method: string, path: string, body?: unknown): Effect.Effect<Answer> =>
    call(method, `${under}${path}`, { token: app.token, ...(body === undefined ? {} : { body }) })
  const phone = (method: string, appUserId: string, more: { readonly path?: string; readonly body?: unknown } = {}) =>
    call(method, `${url}/api/v1/client/subscribers/${encodeURIComponent(appUserId)}${more.path ?? ""}`, {
      token: app.key,
      body: more.body
    })
  return {
    ...app,
    bundle,
    ask,
    customer: (appUserId: string) => `/customers/${encodeURIComponent(appUserId)}`,
    /** The phone reads its subscriber. */
    read: (appUserId: string) => Effect.map(phone("GET", appUserId), ({ body }) => body.subscriber),
    phone,
    identify: (from: string, to: unknown) => phone("POST", from, { path: "/identify", body: { app_user_id: to } }),
    buy: (appUserId: string, more: object = {}) =>
      buy(world, url, app.id, { bundle_id: bundle, app_account_token: appUserId, ...more }),
    /** Domain events of a type, oldest first. */
    told: (type: string) =>
      Effect.map(ask("GET", `/events?type=${type}&limit=100`), ({ body }): Array<any> => body.data.toReversed())
  }
})
