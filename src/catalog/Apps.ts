import { SqlClient } from "@effect/sql"
import { Array, Context, Data, DateTime, Effect, Layer, Option, Schema } from "effect"
import { candidate, slugOf } from "../identity/domain/Slug.ts"
import type { Caller, TenantId } from "../identity/domain/User.ts"
import { type RoleTooLow, Tenants } from "../identity/Tenants.ts"
import { nextId } from "../kit/Id.ts"
import { makePublicKey } from "../kit/SecretToken.ts"
import { AppRepo } from "./AppRepo.ts"
import { App, AppId, type AppStatus } from "./domain/App.ts"
import type { StoreName } from "./domain/Product.ts"

/** No such app, or one of a workspace that the caller is no member of: the two look alike. */
export class AppNotFound extends Data.TaggedError("AppNotFound")<{}> {}

export interface AppFields {
  readonly name: string
  readonly bundleId: Option.Option<string>
  readonly packageName: Option.Option<string>
  readonly platforms: ReadonlyArray<StoreName>
  readonly status: AppStatus
}

/** Apps of a workspace (subscription management, part 4, "Apps"; contract, part 3). */
export class Apps extends Context.Tag("gatehouse/catalog/Apps")<
  Apps,
  {
    readonly create: (tenantId: TenantId, fields: Omit<AppFields, "status">) => Effect.Effect<App>
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
    readonly update: (app: App, changes: Partial<AppFields>) => Effect.Effect<App>
    /** The old public key stops at once. */
    readonly rotateKey: (app: App) => Effect.Effect<App>
  }
>() {
  static readonly layer = Layer.effect(
    Apps,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const apps = yield* AppRepo
      const tenants = yield* Tenants
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

      const save = Effect.fn("Apps.save")(function* (app: App, changes: Partial<AppFields & { publicApiKey: string }>) {
        const next = App.make({ ...app, ...changes, updatedAt: yield* DateTime.now })
        yield* apps.update(next)
        return next
      })

      return Apps.of({
        create,
        forCaller,
        byId: apps.byId,
        byPublicKey: apps.byPublicKey,
        page: (tenantId, { before, limit, status }) =>
          apps.page({ tenantId, status: Option.getOrNull(status), before: Option.getOrNull(before), limit }),
        update: save,
        rotateKey: (app) => Effect.flatMap(newKey, (publicApiKey) => save(app, { publicApiKey }))
      })
    })
  ).pipe(Layer.provide(AppRepo.Default))
}
