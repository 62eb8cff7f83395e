import { SqlClient } from "@effect/sql"
import { Array, Context, Data, DateTime, Effect, Layer, Option, Schema } from "effect"
import { candidate, slugOf } from "../identity/domain/Slug.ts"
import type { Caller, TenantId } from "../identity/domain/User.ts"
import { type RoleTooLow, type TenantNotFound, Tenants } from "../identity/Tenants.ts"
import { nextId } from "../kit/Id.ts"
import { makePublicKey } from "../kit/SecretToken.ts"
import { AppHistory } from "./AppHistory.ts"
import { AppRepo } from "./AppRepo.ts"
import { App, AppId, type AppStatus, type TransferBehavior } from "./domain/App.ts"
import { type Changes, kept } from "./domain/Changes.ts"
import type { StoreName } from "./domain/Product.ts"

/** No such app, or one of a workspace that the caller is no member of: the two look alike. */
export class AppNotFound extends Data.TaggedError("AppNotFound")<{}> {}

/** The app has customers, or the confirmation names another app: deleting needs this app's slug. */
export class DeletionUnconfirmed extends Data.TaggedError("DeletionUnconfirmed")<{}> {}

export interface AppFields {
  readonly name: string
  readonly bundleId: Option.Option<string>
  readonly packageName: Option.Option<string>
  readonly platforms: ReadonlyArray<StoreName>
  readonly status: AppStatus
  readonly transferBehavior: TransferBehavior
}

/** Apps of a workspace (subscription management, part 4, "Apps"; contract, part 3). */
export class Apps extends Context.Tag("gatehouse/catalog/Apps")<
  Apps,
  {
    /** Fails when the workspace went meanwhile. */
    readonly create: (tenantId: TenantId, fields: Omit<AppFields, "status">) => Effect.Effect<App, TenantNotFound>
    /** The app, when it exists and the caller may do to it what the called endpoint asks for. */
    readonly forCaller: (caller: Caller, id: string) => Effect.Effect<App, AppNotFound | RoleTooLow>
    readonly byId: (id: AppId) => Effect.Effect<Option.Option<App>>
    readonly byPublicKey: (
      key: string
    ) => Effect.Effect<Option.Option<{ readonly id: AppId; readonly status: AppStatus }>>
    readonly page: (
      tenantId: TenantId,
      page: {
        readonly status: Option.Option<AppStatus>
        readonly before: Option.Option<string>
        readonly limit: number
      }
    ) => Effect.Effect<ReadonlyArray<App>>
    readonly update: (id: AppId, changes: Changes<AppFields>) => Effect.Effect<App, AppNotFound>
    /** The old public key stops at once. */
    readonly rotateKey: (id: AppId) => Effect.Effect<App, AppNotFound>
    /** With everything in it. An app with customers goes only when its slug confirms it. */
    readonly remove: (
      id: AppId,
      confirmation: Option.Option<string>
    ) => Effect.Effect<void, AppNotFound | DeletionUnconfirmed>
  }
>() {
  static readonly layer = Layer.effect(
    Apps,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const apps = yield* AppRepo
      const tenants = yield* Tenants
      const history = yield* AppHistory
      const newKey = makePublicKey("app_pk_", 32)

      const create = Effect.fn("Apps.create")(
        function* (tenantId: TenantId, fields: Omit<AppFields, "status">) {
          yield* apps.lockSlugs(tenantId)
          const id = AppId.make(yield* nextId)
          const word = slugOf(fields.name, "app")
          const free = yield* Effect.findFirst(
            Array.map(Array.range(1, 20), (attempt) => candidate(word, attempt)),
            (slug) => apps.slugIsFree(tenantId, slug)
          )
          const now = yield* DateTime.now
          const app = App.make({
            ...fields,
            id,
            tenantId,
            slug: Option.getOrElse(free, () => `${word}-${id}`),
            publicApiKey: yield* newKey,
            status: "active",
            createdAt: now,
            updatedAt: now
          })
          yield* apps.insert(app)
          return app
        },
        sql.withTransaction,
        Effect.catchTag("SqlError", Effect.die)
      )

      const forCaller = Effect.fn("Apps.forCaller")(function* (caller: Caller, id: string) {
        const app = Schema.decodeUnknownOption(AppId)(id)
        const found = Option.isNone(app) ? Option.none() : yield* apps.byId(app.value)
        if (Option.isNone(found)) return yield* new AppNotFound()
        yield* Effect.catchTag(
          tenants.authorize(caller, found.value.tenantId),
          "TenantNotFound",
          () => new AppNotFound()
        )
        return found.value
      })

      const locked = Effect.fn("Apps.locked")(function* (id: AppId) {
        const found = yield* apps.locked(id)
        return Option.isNone(found) ? yield* new AppNotFound() : found.value
      })

      const update = Effect.fn("Apps.update")(
        function* (id: AppId, changes: Changes<AppFields>) {
          const old = yield* locked(id)
          const next = App.make({
            ...old,
            name: kept(changes.name, old.name),
            bundleId: kept(changes.bundleId, old.bundleId),
            packageName: kept(changes.packageName, old.packageName),
            platforms: kept(changes.platforms, old.platforms),
            status: kept(changes.status, old.status),
            transferBehavior: kept(changes.transferBehavior, old.transferBehavior),
            updatedAt: yield* DateTime.now
          })
          yield* apps.update(next)
          return next
        },
        sql.withTransaction,
        Effect.catchTag("SqlError", Effect.die)
      )

      const replaceKey = Effect.fn("Apps.rotateKey")(function* (id: AppId) {
        const old = yield* locked(id)
        const next = App.make({ ...old, publicApiKey: yield* newKey, updatedAt: yield* DateTime.now })
        yield* apps.update(next)
        return next
      })

      const drop = Effect.fn("Apps.remove")(function* (id: AppId, confirmation: Option.Option<string>) {
        const found = yield* apps.lockedWhole(id)
        if (Option.isNone(found)) return yield* new AppNotFound()
        const { slug } = found.value
        const isConfirmed = Option.isSome(confirmation)
          ? confirmation.value === slug
          : !(yield* history.hasCustomers(id))
        if (!isConfirmed) return yield* new DeletionUnconfirmed()
        yield* apps.remove(id)
      })

      return Apps.of({
        create,
        forCaller,
        byId: apps.byId,
        byPublicKey: apps.byPublicKey,
        page: (tenantId, { before, limit, status }) =>
          apps.page({ tenantId, status: Option.getOrNull(status), before: Option.getOrNull(before), limit }),
        update,
        rotateKey: (id) => Effect.catchTag(history.keyRotated(replaceKey(id)), "SqlError", Effect.die),
        remove: (id, confirmation) =>
          Effect.catchTag(history.forgotten(id, drop(id, confirmation)), "SqlError", Effect.die)
      })
    })
  ).pipe(Layer.provide(AppRepo.Default))
}
