import createClient from "openapi-fetch"
import type { paths } from "./schema.ts"

interface Setting {
  readonly url: string
  readonly email: string
  /** PKCS#8 P-256 key of store A, PEM. */
  readonly storeKey: string
}

const must = <A>(answer: { readonly data?: A; readonly error?: unknown; readonly response: Response }): A => {
  if (answer.data === undefined) throw new Error(`${answer.response.url}: ${JSON.stringify(answer.error)}`)
  return answer.data
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

/** A team's first day, by a client that knows nothing but the OpenAPI document. Answers what was seen on the way. */
export const tell = async ({ email, storeKey, url }: Setting) => {
  const client = createClient<paths>({ baseUrl: url })

  const registration = { name: "Ann", email, password: "eight characters", tenant_name: "Notes Ltd" }
  const registered = must(await client.POST("/api/v1/auth/register", { body: registration })).data
  const mine = bearer(registered.token)

  const app = must(
    await client.POST("/api/v1/apps", { ...mine, body: { name: "Notes", bundle_id: "com.example.notes" } })
  ).data
  const inApp = { path: { app: app.uuid } }

  const layout = {
    app: { name: "Notes", uuid: app.uuid, platforms: ["store_a" as const] },
    entitlements: [{ identifier: "pro", name: "Pro", product_identifiers: ["pro.monthly"] }],
    products: [
      {
        store: "store_a" as const,
        identifier: "pro.monthly",
        name: "Pro, monthly",
        type: "subscription" as const,
        subscription_period: "P1M",
        price: 9.99,
        currency: "USD"
      }
    ],
    offerings: [
      {
        identifier: "default",
        is_current: true,
        packages: [{ identifier: "monthly", package_type: "monthly" as const, product_identifier: "pro.monthly" }]
      }
    ]
  }
  const first = must(await client.POST("/api/v1/bootstrap", { ...mine, body: layout })).data
  const second = must(await client.POST("/api/v1/bootstrap", { ...mine, body: layout })).data

  const credential = must(
    await client.POST("/api/v1/apps/{app}/credentials", {
      ...mine,
      params: inApp,
      body: {
        platform: "store_a",
        store_a_issuer_id: "57246542-96fe-1a63-e053-0824d011072a",
        store_a_key_id: "2X9R4HXF34",
        store_a_private_key: storeKey
      }
    })
  ).data

  const phone = bearer(app.public_api_key)
  const offerings = must(await client.GET("/api/v1/client/offerings", phone)).data
  const ann = { path: { appUserId: "ann" } }
  const before = must(await client.GET("/api/v1/client/subscribers/{appUserId}", { ...phone, params: ann })).subscriber

  const grant = must(
    await client.POST("/api/v1/apps/{app}/customers/{appUserId}/grants", {
      ...mine,
      params: { path: { app: app.uuid, appUserId: "ann" } },
      body: { entitlement_identifier: "pro", expires_date: null }
    })
  ).data
  const after = must(await client.GET("/api/v1/client/subscribers/{appUserId}", { ...phone, params: ann })).subscriber

  const stats = must(await client.GET("/api/v1/apps/{app}/stats", { ...mine, params: inApp })).data
  const rotated = must(await client.POST("/api/v1/apps/{app}/rotate-key", { ...mine, params: inApp })).data
  const withOldKey = await client.GET("/api/v1/client/offerings", phone)
  const withNewKey = await client.GET("/api/v1/client/offerings", bearer(rotated.public_api_key))
  const archived = must(
    await client.PATCH("/api/v1/apps/{app}", { ...mine, params: inApp, body: { status: "archived" } })
  ).data
  const afterwards = await client.GET("/api/v1/client/offerings", bearer(rotated.public_api_key))
  const listed = must(await client.GET("/api/v1/apps", mine)).data

  return {
    roles: must(await client.GET("/api/v1/auth/me", mine)).data.roles.map(({ role }) => role),
    bootstraps: [first.changes, second.changes],
    credential: { hasKey: credential.has_private_key, isHidden: !JSON.stringify(credential).includes("PRIVATE") },
    current: offerings.current_offering_id,
    prices: offerings.offerings.flatMap(({ packages }) =>
      packages.flatMap(({ products }) => products.map(({ price }) => price))
    ),
    access: [before.entitlements["pro"]?.is_active, after.entitlements["pro"]?.is_active],
    source: after.entitlements["pro"]?.source,
    granted: grant.is_active,
    customers: stats.customers,
    keys: [withOldKey.response.status, withNewKey.response.status],
    status: archived.status,
    afterwards: [afterwards.response.status, afterwards.error?.message],
    listed: listed.length
  }
}
