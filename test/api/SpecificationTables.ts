/** A row of the specification's tables of endpoints: credential, method, path below the base, status of success. */
export interface Row {
  readonly credential: "none" | "accessToken" | "appPublicKey"
  readonly method: "GET" | "POST" | "PATCH" | "DELETE"
  readonly path: string
  readonly status: 200 | 201
  /** Fields of the body, those that are required first. */
  readonly required?: ReadonlyArray<string>
  readonly optional?: ReadonlyArray<string>
}

const row =
  (credential: Row["credential"]) =>
  (method: Row["method"], path: string, status: Row["status"], required?: string, optional?: string): Row => ({
    credential,
    method,
    path,
    status,
    ...(required === undefined ? {} : { required: required.split(" ").filter(Boolean) }),
    ...(optional === undefined ? {} : { optional: optional.split(" ") })
  })

const open = row("none")
const managed = row("accessToken")
const client = row("appPublicKey")

/** Subscription management, part 4. */
export const specified: ReadonlyArray<Row> = [
  open("GET", "/health", 200),
  open("POST", "/auth/register", 201, "name email password", "tenant_name"),
  open("POST", "/auth/login", 200, "email password"),
  managed("GET", "/auth/me", 200),
  managed("POST", "/auth/tokens", 201, "name", "abilities"),
  managed("POST", "/auth/logout", 200),
  managed("GET", "/tenants", 200),
  managed("POST", "/tenants", 201, "name", "billing_email"),
  managed("GET", "/tenants/{tenant}", 200),
  managed("PATCH", "/tenants/{tenant}", 200),
  managed("DELETE", "/tenants/{tenant}", 200),
  managed("GET", "/apps", 200),
  managed("POST", "/apps", 201, "name", "bundle_id package_name platforms"),
  managed("GET", "/apps/{app}", 200),
  managed("PATCH", "/apps/{app}", 200),
  managed("DELETE", "/apps/{app}", 200),
  managed("POST", "/apps/{app}/rotate-key", 200),
  managed("GET", "/apps/{app}/stats", 200),
  managed("GET", "/apps/{app}/credentials", 200),
  managed(
    "POST",
    "/apps/{app}/credentials",
    201,
    "platform",
    "environment store_a_issuer_id store_a_key_id store_a_private_key store_a_bundle_id store_b_package_name store_b_service_account_json"
  ),
  managed("GET", "/apps/{app}/products", 200),
  managed(
    "POST",
    "/apps/{app}/products",
    201,
    "store identifier name type",
    "subscription_period price currency entitlements"
  ),
  managed("GET", "/products/{product}", 200),
  managed("PATCH", "/products/{product}", 200),
  managed("DELETE", "/products/{product}", 200),
  managed("GET", "/apps/{app}/entitlements", 200),
  managed("POST", "/apps/{app}/entitlements", 201, "identifier name", "product_identifiers"),
  managed("PATCH", "/entitlements/{entitlement}", 200),
  managed("DELETE", "/entitlements/{entitlement}", 200),
  managed("GET", "/apps/{app}/offerings", 200),
  managed("POST", "/apps/{app}/offerings", 201, "identifier", "is_current"),
  managed("GET", "/offerings/{offering}/packages", 200),
  managed("POST", "/offerings/{offering}/packages", 201, "product_identifier identifier package_type"),
  managed("GET", "/apps/{app}/customers", 200),
  managed("GET", "/apps/{app}/customers/{appUserId}", 200),
  managed("GET", "/apps/{app}/subscriptions", 200),
  managed("GET", "/apps/{app}/transactions", 200),
  managed("GET", "/apps/{app}/events", 200),
  managed("GET", "/apps/{app}/webhooks", 200),
  managed("POST", "/apps/{app}/webhooks", 201, "url", "events"),
  managed("POST", "/bootstrap", 201, "app", "entitlements products offerings"),
  client("GET", "/client/offerings", 200),
  client("GET", "/client/subscribers/{appUserId}", 200),
  client("POST", "/client/receipts", 200),
  open("POST", "/stores/store_a/notifications/{app}", 200, "signedPayload"),
  open("POST", "/stores/store_b/notifications/{app}", 200)
]

/** What the contract, part 3, adds. */
export const added: ReadonlyArray<Row> = [
  managed("GET", "/auth/tokens", 200),
  managed("DELETE", "/auth/tokens/{token}", 200),
  managed("GET", "/tenants/{tenant}/members", 200),
  managed("POST", "/tenants/{tenant}/members", 201, "email role"),
  managed("PATCH", "/tenants/{tenant}/members/{user}", 200),
  managed("DELETE", "/tenants/{tenant}/members/{user}", 200),
  managed("GET", "/tenants/{tenant}/audit-log", 200),
  managed("PATCH", "/offerings/{offering}", 200),
  managed("DELETE", "/offerings/{offering}", 200),
  managed("PATCH", "/packages/{package}", 200),
  managed("DELETE", "/packages/{package}", 200),
  managed("DELETE", "/apps/{app}/customers/{appUserId}", 200),
  managed("GET", "/apps/{app}/customers/{appUserId}/history", 200),
  managed("POST", "/apps/{app}/customers/{appUserId}/grants", 201, "entitlement_identifier", "expires_date"),
  managed("DELETE", "/apps/{app}/customers/{appUserId}/grants/{grant}", 200),
  client("POST", "/client/subscribers/{appUserId}/identify", 200, "app_user_id"),
  managed("POST", "/apps/{app}/credentials/{platform}/verify", 200),
  managed("GET", "/apps/{app}/store-notifications", 200),
  managed("GET", "/webhooks/{webhook}", 200),
  managed("PATCH", "/webhooks/{webhook}", 200),
  managed("DELETE", "/webhooks/{webhook}", 200),
  managed("POST", "/webhooks/{webhook}/rotate-secret", 200, "", "overlap_seconds"),
  managed("POST", "/webhooks/{webhook}/test", 201),
  managed("GET", "/apps/{app}/webhook-deliveries", 200),
  managed("POST", "/webhook-deliveries/{delivery}/retry", 200)
]
