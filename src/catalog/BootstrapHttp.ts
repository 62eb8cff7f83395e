import { HttpApiBuilder } from "@effect/platform"
import { Effect, Either, Option, ParseResult, Schema } from "effect"
import { BootstrapApp, type BootstrapBody } from "../api/management/BootstrapGroup.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { fieldErrors } from "../http/FieldErrors.ts"
import { noTenant } from "../identity/CallerTenantHttp.ts"
import { appItem } from "./AppsHttp.ts"
import { Bootstrap, type WantedApp } from "./Bootstrap.ts"
import { chosenTenant, noSuchApp } from "./CallerAppHttp.ts"
import { entitlementItem, microsOf, offeringItem, productItem } from "./CatalogViews.ts"
import type { Fault, Naming } from "./domain/CatalogFaults.ts"
import type { WantedCatalog } from "./domain/CatalogPlan.ts"
import { invalid } from "./RefusalsHttp.ts"

type Body = typeof BootstrapBody.Type

const option = (field: string | null | undefined) => (field === undefined ? undefined : Option.fromNullable(field))

const wantedApp = (app: Body["app"]): WantedApp => ({
  uuid: app.uuid,
  slug: app.slug,
  name: app.name,
  bundleId: option(app.bundle_id),
  packageName: option(app.package_name),
  platforms: app.platforms,
  transferBehavior: app.transfer_behavior
})

const wantedCatalog = ({ entitlements = [], offerings = [], products = [] }: Body): WantedCatalog => ({
  entitlements: entitlements.map(({ identifier, name, product_identifiers: productIdentifiers = [] }) => ({
    identifier,
    name,
    productIdentifiers
  })),
  products: products.map(({ entitlements: unlocked = [], price, subscription_period, ...product }) => ({
    ...product,
    subscriptionPeriod: subscription_period,
    priceMicros: microsOf(price),
    entitlements: unlocked
  })),
  offerings: offerings.map(({ identifier, is_current: isCurrent, packages = [] }) => ({
    identifier,
    isCurrent,
    packages: packages.map((found) => ({
      identifier: found.identifier,
      packageType: found.package_type,
      productIdentifier: found.product_identifier
    }))
  }))
})

const anything = Schema.optional(Schema.Unknown)
const many = <A, I>(record: Schema.Schema<A, I>) => Schema.optionalWith(Schema.Array(record), { default: () => [] })

/** As much of the form as names need. */
const Outline = Schema.Struct({
  entitlements: many(Schema.Struct({ identifier: anything, product_identifiers: many(Schema.Unknown) })),
  products: many(Schema.Struct({ store: anything, identifier: anything, entitlements: many(Schema.Unknown) })),
  offerings: many(
    Schema.Struct({
      identifier: anything,
      is_current: anything,
      packages: many(Schema.Struct({ identifier: anything, product_identifier: anything }))
    })
  )
})

const naming = ({ entitlements, offerings, products }: typeof Outline.Type): Naming => ({
  entitlements: entitlements.map(({ identifier, product_identifiers }) => ({
    identifier,
    productIdentifiers: product_identifiers
  })),
  products,
  offerings: offerings.map(({ identifier, is_current, packages }) => ({
    identifier,
    isCurrent: is_current,
    packages: packages.map((found) => ({ identifier: found.identifier, productIdentifier: found.product_identifier }))
  }))
})

const appOf = Schema.decodeUnknownOption(Schema.Struct({ app: BootstrapApp }))
const outlineOf = Schema.decodeUnknownOption(Outline)

const refusal = (faults: ReadonlyArray<Fault>, issue?: ParseResult.ParseIssue) =>
  invalid(
    fieldErrors([
      ...(issue === undefined ? [] : ParseResult.ArrayFormatter.formatIssueSync(issue)),
      ...faults.map(({ path, sentence }) => ({ _tag: "Type" as const, path: path.split("."), message: sentence }))
    ])
  )

export const BootstrapHttp = HttpApiBuilder.group(ServiceApi, "bootstrap", (handlers) =>
  Effect.map(Bootstrap, (bootstrap) =>
    handlers.handle("bootstrap", ({ headers, payload: { body, raw } }) =>
      Effect.gen(function* () {
        const tenant = yield* chosenTenant(headers["x-tenant"])
        if (Either.isLeft(body)) {
          const app = Option.map(appOf(raw), (decoded) => wantedApp(decoded.app))
          const outline = Option.map(outlineOf(raw), naming)
          const faults = Option.isNone(outline) ? [] : yield* bootstrap.faults(tenant.id, app, outline.value)
          return yield* refusal(faults, body.left)
        }
        const made = yield* bootstrap.apply(tenant.id, wantedApp(body.right.app), wantedCatalog(body.right))
        return {
          data: {
            app: appItem(made.app),
            entitlements: made.entitlements.map(entitlementItem),
            products: made.products.map(productItem),
            offerings: made.offerings.map(offeringItem),
            changes: made.changes
          }
        }
      }).pipe(
        Effect.catchTags({
          AppNotFound: noSuchApp,
          BootstrapRefused: ({ faults }) => refusal(faults),
          TenantNotFound: noTenant
        })
      )
    )
  )
)
