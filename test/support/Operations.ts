import { HttpApi, OpenApi } from "@effect/platform"
import { Context, Option } from "effect"
import { ManagementApi } from "../../src/api/ManagementApi.ts"
import { Requires } from "../../src/api/Security.ts"
import type { Requirement } from "../../src/identity/domain/User.ts"
import type { Prepared } from "./PreparedTenant.ts"
import { subscription } from "./Registered.ts"

/** One operation of an OpenAPI document. */
export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly parameters: ReadonlyArray<string>
  /** The credential that it asks for; absent for an open one. */
  readonly credential: string | undefined
  readonly success: number
  /** JSON pointer to the schema of its success. */
  readonly answer: string
}

const escaped = (step: string) => encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1"))

const operationOf = (path: string, method: string, described: any): Operation => {
  const success = Object.keys(described.responses).find((status) => status.startsWith("2")) ?? ""
  const pointer = ["paths", path, method, "responses", success, "content", "application/json", "schema"]
  return {
    id: described.operationId,
    method: method.toUpperCase(),
    path,
    parameters: [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = ""]) => name),
    credential: described.security.flatMap((option: object) => Object.keys(option))[0],
    success: Number(success),
    answer: `#/${pointer.map(escaped).join("/")}`
  }
}

/** In the order of the document. */
export const operationsOf = (document: any): ReadonlyArray<Operation> =>
  Object.entries<object>(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, described]) => operationOf(path, method, described))
  )

/** What an operation of the management API declares to ask of its caller. */
export const requirementOf: ReadonlyMap<string, Requirement> = (() => {
  const table = new Map<string, Requirement>()
  HttpApi.reflect(ManagementApi, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, group }) => {
      const requirement = Context.getOption(endpoint.annotations, Requires)
      const id = Option.getOrElse(
        Context.getOption(endpoint.annotations, OpenApi.Identifier),
        () => `${group.identifier}.${endpoint.name}`
      )
      if (Option.isSome(requirement)) table.set(id, requirement.value)
    }
  })
  return table
})()

/** What makes a call valid beside the identifiers in its path. */
export interface Valid {
  readonly body?: unknown
  readonly query?: string
  /** Records that the call may end, in the place of those that others need. */
  readonly path?: Readonly<Record<string, string>>
}

const reads = (query = "?limit=2") => ({ query })
const nothing: Valid = {}

/** A valid call of every operation of the management API. */
export const validCalls: Readonly<Record<string, (prepared: Prepared) => Valid>> = {
  health: () => nothing,
  "auth.register": () => ({
    body: { name: "Zoe", email: `zoe${crypto.randomUUID()}@example.com`, password: "eight characters" }
  }),
  "auth.login": ({ email, password }) => ({ body: { email, password } }),
  "auth.me": () => nothing,
  "auth.createToken": () => ({ body: { name: "agent", abilities: ["apps:read"] } }),
  "auth.listTokens": () => reads(),
  "auth.deleteToken": () => nothing,
  "auth.logout": () => nothing,
  "tenants.listTenants": () => reads(),
  "tenants.createTenant": () => ({ body: { name: "Second", billing_email: "pay@example.com" } }),
  "tenants.getTenant": () => nothing,
  "tenants.updateTenant": () => ({ body: { plan: "pro" } }),
  "tenants.deleteTenant": ({ emptyTenant }) => ({ path: { tenant: emptyTenant } }),
  "members.listMembers": () => reads(),
  "members.addMember": ({ newcomer }) => ({ body: { email: newcomer, role: "viewer" } }),
  "members.updateMember": () => ({ body: { role: "viewer" } }),
  "members.removeMember": () => nothing,
  "audit.listAuditLog": () => reads("?limit=2&operation=apps.createApp"),
  "apps.listApps": () => reads("?limit=2&status=active"),
  "apps.createApp": () => ({ body: { name: "Second", platforms: ["store_a"] } }),
  "apps.getApp": () => nothing,
  "apps.updateApp": () => ({ body: { name: "Renamed" } }),
  "apps.deleteApp": ({ slug }) => ({ query: `?confirm=${slug}` }),
  "apps.rotateKey": () => nothing,
  "credentials.listCredentials": () => reads(),
  "credentials.putCredential": ({ storeKey }) => ({ body: { ...storeKey, environment: "sandbox" } }),
  "credentials.verifyCredential": () => nothing,
  "credentials.deleteCredential": () => nothing,
  "products.listProducts": () => reads(),
  "products.createProduct": () => ({ body: subscription("pro.yearly", { subscription_period: "P1Y" }) }),
  "products.getProduct": () => nothing,
  "products.updateProduct": () => ({ body: { name: "Pro, monthly", price: 9.99, currency: "USD" } }),
  "products.deleteProduct": () => nothing,
  "entitlements.listEntitlements": () => reads(),
  "entitlements.createEntitlement": () => ({ body: { identifier: "gold", name: "Gold" } }),
  "entitlements.updateEntitlement": () => ({ body: { name: "Professional" } }),
  "entitlements.deleteEntitlement": () => nothing,
  "offerings.listOfferings": () => reads(),
  "offerings.createOffering": () => ({ body: { identifier: "sale" } }),
  "offerings.updateOffering": () => ({ body: { is_current: true } }),
  "offerings.deleteOffering": () => nothing,
  "packages.listPackages": () => reads(),
  "packages.createPackage": () => ({
    body: { identifier: "other", package_type: "custom", product_identifier: "pro.monthly" }
  }),
  "packages.updatePackage": () => ({ body: { package_type: "custom" } }),
  "packages.deletePackage": () => nothing,
  "bootstrap.bootstrap": ({ ids }) => ({ body: { app: { uuid: ids.app, name: "Bootstrapped" } } }),
  "customers.listCustomers": () => reads("?limit=2&search=user"),
  "customers.createCustomer": () => ({ body: { app_user_id: "user-2" } }),
  "customers.getCustomer": () => nothing,
  "customers.eraseCustomer": () => nothing,
  "customers.customerHistory": () => reads(),
  "stats.getStats": () => reads("?environment=sandbox"),
  "grants.listGrants": () => reads(),
  "grants.createGrant": () => ({ body: { entitlement_identifier: "pro" } }),
  "grants.revokeGrant": () => nothing,
  "ledger.listSubscriptions": () => reads(),
  "ledger.listTransactions": () => reads(),
  "events.listEvents": () => reads(),
  "webhooks.listAppWebhooks": () => reads(),
  "webhooks.createAppWebhook": ({ hook }) => ({ body: { url: hook, events: ["purchase.*"] } }),
  "webhooks.getAppWebhook": () => nothing,
  "webhooks.updateAppWebhook": () => ({ body: { retry_count: 1 } }),
  "webhooks.deleteAppWebhook": () => nothing,
  "webhooks.rotateAppWebhookSecret": () => ({ body: { overlap_seconds: 60 } }),
  "webhooks.testAppWebhook": () => nothing,
  "webhooks.replayAppWebhook": () => ({
    body: { from: "2026-01-01T00:00:00.000Z", to: "2026-01-02T00:00:00.000Z", events: ["purchase.*"] }
  }),
  "webhooks.listAppDeliveries": () => reads(),
  "webhooks.retryAppDelivery": () => nothing,
  "storeNotifications.listStoreNotifications": () => reads(),
  "client.getSubscriber": () => nothing,
  "client.identifySubscriber": ({ anonymous }) => ({
    body: { app_user_id: "user-3" },
    path: { appUserId: anonymous }
  }),
  "receipts.validateReceipt": ({ ids, transactionId }) => ({
    body: { store: "store_a", app_user_id: ids.appUserId, transaction_id: transactionId }
  }),
  "clientOfferings.getOfferings": () => nothing,
  "inbound.storeANotification": ({ signedPayload }) => ({ body: { signedPayload } }),
  "inbound.storeBNotification": () => ({
    body: {
      message: {
        messageId: "1",
        data: Buffer.from(
          JSON.stringify({ version: "1.0", packageName: "com.example.other", eventTimeMillis: "1795262465022" })
        ).toString("base64")
      },
      subscription: "projects/notes/subscriptions/pushes"
    }
  })
}

/** The address of a call, its path filled from `ids`. */
export const addressOf = ({ path }: Operation, ids: Readonly<Record<string, string>>, query = ""): string =>
  path.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? `no-${name}`)) + query
