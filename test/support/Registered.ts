import { Context, Effect, Layer } from "effect"
import { call } from "./Api.ts"
import * as Gatehouse from "./Gatehouse.ts"
import * as TestDatabase from "./TestDatabase.ts"

/** One program on a database of its own for all stories of a file. */
export class Program extends Context.Tag("test/support/Program")<
  Program,
  Gatehouse.Gatehouse & { readonly databaseUrl: string }
>() {
  static readonly layer = Layer.scoped(
    Program,
    Effect.gen(function* () {
      const databaseUrl = yield* TestDatabase.url
      return { ...(yield* Gatehouse.serve({ DATABASE_URL: databaseUrl })), databaseUrl }
    })
  ).pipe(Layer.orDie)
}

/** Somebody who has registered, calling the management API. */
export const registered = Effect.gen(function* () {
  const { url } = yield* Program
  const answer = yield* call("POST", `${url}/api/v1/auth/register`, {
    body: { name: "Ann", email: `ann${crypto.randomUUID()}@example.com`, password: "eight characters" }
  })
  const token: string = answer.body.data.token
  const api = (method: string, path: string, body?: unknown, as: string = token) =>
    call(method, `${url}/api/v1${path}`, { token: as, body })
  const { tenant, user } = answer.body.data
  return { api, token, tenant: tenant.uuid as string, user: user.uuid as string, email: user.email as string }
})

export const subscription = (identifier: string, more: object = {}) => ({
  store: "store_a",
  identifier,
  name: identifier,
  type: "subscription",
  subscription_period: "P1M",
  ...more
})

/** A team with an app, and paths below it. */
export const teamWithApp = Effect.gen(function* () {
  const team = yield* registered
  const made = yield* team.api("POST", "/apps", { name: "Notes", bundle_id: "com.example.notes" })
  const app: { readonly uuid: string; readonly slug: string; readonly public_api_key: string } = made.body.data
  const inApp = (method: string, path: string, body?: unknown) => team.api(method, `/apps/${app.uuid}${path}`, body)
  return { ...team, app, inApp }
})

export const identifiers = (answer: { readonly body: any }): ReadonlyArray<string> =>
  answer.body.data.map(({ identifier }: { identifier: string }) => identifier)

export const fieldsOf = (answer: { readonly body: any }): ReadonlyArray<string> =>
  Object.keys(answer.body.errors).toSorted()
