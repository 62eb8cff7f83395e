import { SqlClient } from "@effect/sql"
import { Array, Context, Data, DateTime, Effect, Layer, Option, Schema } from "effect"
import { slugOf } from "../identity/domain/Slug.ts"
import type { TenantId } from "../identity/domain/User.ts"
import type { TenantNotFound } from "../identity/Tenants.ts"
import { nextId } from "../kit/Id.ts"
import { AppRepo } from "./AppRepo.ts"
import { type AppFields, AppNotFound, Apps } from "./Apps.ts"
import { BootstrapRepo } from "./BootstrapRepo.ts"
import { CatalogLock } from "./CatalogLock.ts"
import { App, type AppId } from "./domain/App.ts"
import { type Fault, type Naming, repeatsIn, unknownNamesIn } from "./domain/CatalogFaults.ts"
import { type CatalogPlan, planOf, productKey, type WantedCatalog, type Writes } from "./domain/CatalogPlan.ts"
import { type Changes, kept } from "./domain/Changes.ts"
import type { Entitlement } from "./domain/Entitlement.ts"
import type { Offering } from "./domain/Offering.ts"
import type { Product } from "./domain/Product.ts"

/** The app to make or change: an existing one by uuid or slug, else by what it has in common with this description. */
export interface WantedApp extends Changes<Omit<AppFields, "name" | "status">> {
  readonly uuid?: string | undefined
  readonly slug?: string | undefined
  readonly name: string
}

/** Everything that keeps the request from being carried out; nothing was. */
export class BootstrapRefused extends Data.TaggedError("BootstrapRefused")<{ readonly faults: ReadonlyArray<Fault> }> {}

export interface Bootstrapped {
  readonly app: App
  /** The records that the request names, in its order. */
  readonly entitlements: ReadonlyArray<Entitlement>
  readonly products: ReadonlyArray<Product>
  readonly offerings: ReadonlyArray<Offering>
  /** The app and every record named count; others that had to change count as updated. */
  readonly changes: { readonly created: number; readonly updated: number; readonly unchanged: number }
}

/** One call that makes or changes a whole app (subscription management, part 4, "Bootstrap"; contract, part 3). */
export class Bootstrap extends Context.Tag("gatehouse/catalog/Bootstrap")<
  Bootstrap,
  {
    /** Everything or nothing, in one transaction; again, it changes nothing. Two at once wait for each other. */
    readonly apply: (
      tenantId: TenantId,
      app: WantedApp,
      wanted: WantedCatalog
    ) => Effect.Effect<Bootstrapped, BootstrapRefused | AppNotFound | TenantNotFound>
    /** What else is wrong with a request whose form is wrong somewhere: duplicates, and names that mean nothing. */
    readonly faults: (
      tenantId: TenantId,
      app: Option.Option<WantedApp>,
      request: Naming
    ) => Effect.Effect<ReadonlyArray<Fault>, AppNotFound>
  }
>() {
  static readonly layer = Layer.effect(
    Bootstrap,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const apps = yield* Apps
      const appRows = yield* AppRepo
      const catalog = yield* BootstrapRepo
      const { writing } = yield* CatalogLock

      const state = Effect.fn("Bootstrap.state")(function* (appId: AppId) {
        return {
          products: yield* catalog.products(appId),
          entitlements: yield* catalog.entitlements(appId),
          offerings: yield* catalog.offerings(appId)
        }
      })

      const find = Effect.fn("Bootstrap.find")(function* (tenantId: TenantId, wanted: WantedApp) {
        const field = wanted.uuid === undefined ? "slug" : "uuid"
        const called = wanted[field]
        if (called === undefined) {
          return yield* appRows.described({
            tenantId,
            bundleId: Option.getOrNull(wanted.bundleId ?? Option.none()),
            packageName: Option.getOrNull(wanted.packageName ?? Option.none()),
            slug: slugOf(wanted.name, "app")
          })
        }
        const found = yield* field === "uuid"
          ? appRows.byUuid({ tenantId, uuid: called })
          : appRows.bySlug({ tenantId, slug: called })
        return Option.isSome(found) ? found : yield* new AppNotFound()
      })

      const faults = Effect.fn("Bootstrap.faults")(
        function* (tenantId: TenantId, app: Option.Option<WantedApp>, request: Naming) {
          const repeats = repeatsIn(request)
          if (Option.isNone(app)) return repeats
          const found = yield* find(tenantId, app.value)
          const known = Option.isNone(found) ? { products: [], entitlements: [] } : yield* state(found.value.id)
          return [...repeats, ...unknownNamesIn(request, known)]
        },
        sql.withTransaction,
        Effect.catchTag("SqlError", Effect.die)
      )

      const changeApp = Effect.fn("Bootstrap.changeApp")(function* (old: App, wanted: WantedApp) {
        const next = App.make({
          ...old,
          name: wanted.name,
          bundleId: kept(wanted.bundleId, old.bundleId),
          packageName: kept(wanted.packageName, old.packageName),
          platforms: kept(wanted.platforms, old.platforms),
          transferBehavior: kept(wanted.transferBehavior, old.transferBehavior)
        })
        if (isSameApp(old, next)) return { app: old, change: "unchanged" as const }
        const app = App.make({ ...next, updatedAt: yield* DateTime.now })
        yield* appRows.update(app)
        return { app, change: "updated" as const }
      })

      const ensureApp = Effect.fn("Bootstrap.ensureApp")(function* (tenantId: TenantId, wanted: WantedApp) {
        yield* appRows.lockSlugs(tenantId)
        const found = yield* find(tenantId, wanted)
        if (Option.isSome(found)) return yield* changeApp(found.value, wanted)
        const app = yield* apps.create(tenantId, {
          name: wanted.name,
          bundleId: wanted.bundleId ?? Option.none(),
          packageName: wanted.packageName ?? Option.none(),
          transferBehavior: wanted.transferBehavior ?? "transfer",
          platforms: wanted.platforms ?? []
        })
        return { app, change: "created" as const }
      })

      const write = Effect.fn("Bootstrap.write")(function* (appId: AppId, plan: CatalogPlan) {
        const now = DateTime.toDateUtc(yield* DateTime.now)
        const products = yield* identified(plan.products)
        const entitlements = yield* identified(plan.entitlements)
        const offerings = yield* identified(plan.offerings)
        const packages = yield* identified(plan.packages)
        if (products.length > 0) yield* catalog.writeProducts(appId, products, now)
        if (entitlements.length > 0) {
          yield* catalog.writeEntitlements(appId, entitlements, now)
          yield* catalog.link(appId, entitlements)
        }
        const made = plan.products.created.map(({ identifier }) => identifier)
        if (made.length > 0) yield* catalog.joinSiblings(appId, made)
        if (offerings.some(({ isCurrent }) => isCurrent)) yield* catalog.clearCurrent(appId, now)
        if (offerings.length > 0) yield* catalog.writeOfferings(appId, offerings, now)
        if (packages.length > 0) yield* catalog.writePackages(appId, packages, now)
      })

      const applyCatalog = Effect.fn("Bootstrap.applyCatalog")(function* (appId: AppId, wanted: WantedCatalog) {
        const before = yield* state(appId)
        const faults = [...repeatsIn(wanted), ...unknownNamesIn(wanted, before)]
        if (faults.length > 0) return yield* new BootstrapRefused({ faults })
        const plan = planOf(before, wanted)
        yield* write(appId, plan)
        return { plan, after: yield* state(appId) }
      })

      const apply = Effect.fn("Bootstrap.apply")(
        function* (tenantId: TenantId, wantedApp: WantedApp, wanted: WantedCatalog) {
          const { app, change } = yield* ensureApp(tenantId, wantedApp)
          const { after, plan } = yield* writing(app.id, applyCatalog(app.id, wanted))
          const { entitlements, offerings, packages, products } = plan
          const writes = [entitlements, products, offerings, packages]
          const count = (kind: "created" | "updated") =>
            writes.reduce((sum, rows) => sum + rows[kind].length, change === kind ? 1 : 0)
          return {
            app,
            entitlements: inOrderOf(wanted.entitlements, after.entitlements, identifierOf),
            products: inOrderOf(wanted.products, after.products, productKey),
            offerings: inOrderOf(wanted.offerings, after.offerings, identifierOf),
            changes: {
              created: count("created"),
              updated: count("updated"),
              unchanged: writes.reduce((sum, rows) => sum + rows.unchanged, change === "unchanged" ? 1 : 0)
            }
          }
        },
        sql.withTransaction,
        Effect.catchTag("SqlError", Effect.die)
      )

      return Bootstrap.of({ apply, faults })
    })
  ).pipe(Layer.provide(AppRepo.Default))
}

const sameFields = Schema.equivalence(Schema.Struct({ ...App.fields }))
const isSameApp = (old: App, next: App): boolean => sameFields(old, next)

/** An id for each row to write, in their order; a row that exists keeps its own. */
const identified = <Row>({ created, updated }: Writes<Row>) =>
  Effect.forEach([...updated, ...created], (row) => Effect.map(nextId, (id) => ({ ...row, id })))

const identifierOf = ({ identifier }: { readonly identifier: string }): string => identifier

const inOrderOf = <Key, Row extends Key>(
  named: ReadonlyArray<Key>,
  rows: ReadonlyArray<Row>,
  keyOf: (row: Key) => string
): ReadonlyArray<Row> => {
  const byKey = new Map(rows.map((row) => [keyOf(row), row]))
  return Array.filterMap(named, (row) => Option.fromNullable(byKey.get(keyOf(row))))
}
