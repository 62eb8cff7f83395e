import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { call } from "./Api.ts"
import { subscription } from "./Registered.ts"
import { p256Key } from "./StoreKeys.ts"
import { buy, eventually } from "./Story.ts"
import { Program } from "./Team.ts"

const password = "eight characters"

/** Somebody who has registered, with a workspace of their own. */
export const person = Effect.fn(function* (name: string) {
  const { url } = yield* Program
  const email = `${name}${Math.random()}@example.com`
  const { body } = yield* call("POST", `${url}/api/v1/auth/register`, { body: { name, email, password } })
  return {
    email,
    token: body.data.token as string,
    user: body.data.user.uuid as string,
    tenant: body.data.tenant.uuid as string
  }
})

/** A call that must succeed: its record. */
export const made = Effect.fn(function* (token: string, path: string, body: unknown) {
  const { url } = yield* Program
  const answer = yield* call("POST", `${url}/api/v1${path}`, { token, body })
  assert.strictEqual(answer.status, 201, `${path} ${JSON.stringify(answer.body)}`)
  return answer.body.data
})

/** A workspace with one record of every kind, a member of every role, and nothing under way. */
export const prepare = Effect.gen(function* () {
  const { url, world } = yield* Program
  const { owner, ...people } = yield* Effect.all({
    owner: person("owner"),
    admin: person("admin"),
    member: person("member"),
    viewer: person("viewer"),
    leaver: person("leaver"),
    newcomer: person("newcomer")
  })
  const { token } = owner
  const join = (email: string, role: string) => made(token, `/tenants/${owner.tenant}/members`, { email, role })
  for (const role of ["admin", "member", "viewer"] as const) yield* join(people[role].email, role)
  yield* join(people.leaver.email, "member")
  const emptyTenant = yield* made(token, "/tenants", { name: "Empty" })
  const spare = yield* made(token, "/auth/tokens", { name: "spare" })

  const bundle = `com.example.b${crypto.randomUUID().slice(0, 8)}`
  const app = yield* made(token, "/apps", { name: "Notes", bundle_id: bundle })
  const under = `/apps/${app.uuid}`
  const storeKey = {
    platform: "store_a",
    store_a_issuer_id: "57246542-96fe-1a63-e053-0824d011072a",
    store_a_key_id: "2X9R4HXF34",
    store_a_private_key: p256Key()
  }
  yield* call("POST", `${world.storeA.url}/_control/keys`, {
    body: {
      issuer_id: storeKey.store_a_issuer_id,
      key_id: storeKey.store_a_key_id,
      bundle_id: bundle,
      private_key: storeKey.store_a_private_key
    }
  })
  const webhook = yield* made(token, `${under}/webhooks`, { url: world.receiver.url })
  const product = yield* made(token, `${under}/products`, subscription("pro.monthly"))
  const entitlement = yield* made(token, `${under}/entitlements`, {
    identifier: "pro",
    name: "Pro",
    product_identifiers: ["pro.monthly"]
  })
  const offering = yield* made(token, `${under}/offerings`, { identifier: "default", is_current: true })
  const monthly = yield* made(token, `/offerings/${offering.uuid}/packages`, {
    identifier: "monthly",
    package_type: "monthly",
    product_identifier: "pro.monthly"
  })
  const credential = yield* made(token, `${under}/credentials`, storeKey)
  const appUserId = "user-1"
  const anonymous = "$anonymous:1"
  yield* made(token, `${under}/customers`, { app_user_id: appUserId })
  yield* made(token, `${under}/customers`, { app_user_id: anonymous })
  const grant = yield* made(token, `${under}/customers/${appUserId}/grants`, { entitlement_identifier: "pro" })
  const bought = yield* buy(world, url, app.uuid, { bundle_id: bundle, app_account_token: appUserId })
  const sent = yield* call("GET", `${world.storeA.url}/_control/notifications`)
  yield* eventually(
    Effect.map(call("GET", `${url}/api/v1${under}/transactions`, { token }), ({ body }) => body.data[0]),
    "a transaction"
  )
  const deliveries = yield* eventually(
    Effect.map(call("GET", `${url}/api/v1${under}/webhook-deliveries`, { token }), ({ body }) =>
      body.data.length > 3 && body.data.every(({ state }: { state: string }) => state === "succeeded")
        ? body.data
        : undefined
    ),
    "deliveries that are done"
  )
  return {
    ...people,
    owner,
    token,
    email: owner.email,
    password,
    newcomer: people.newcomer.email,
    emptyTenant: emptyTenant.uuid as string,
    slug: app.slug as string,
    key: app.public_api_key as string,
    hook: world.receiver.url,
    signedPayload: sent.body.at(-1).signedPayload as string,
    storeKey,
    transactionId: bought.body.purchase.transactionId as string,
    anonymous,
    /** By parameter of a path. */
    ids: {
      tenant: owner.tenant,
      user: people.leaver.user,
      token: spare.uuid as string,
      app: app.uuid as string,
      product: product.uuid as string,
      entitlement: entitlement.uuid as string,
      offering: offering.uuid as string,
      package: monthly.uuid as string,
      credential: credential.uuid as string,
      platform: "store_a",
      appUserId,
      grant: grant.uuid as string,
      webhook: webhook.uuid as string,
      delivery: deliveries[0].id as string
    }
  }
})

export type Prepared = Effect.Effect.Success<typeof prepare>
