import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, flow, Option, Schema } from "effect"
import { TenantId } from "../identity/domain/User.ts"
import { TenantNotFound } from "../identity/Tenants.ts"
import { sqlReference } from "../sql/SqlViolation.ts"
import { App, AppId, AppStatus } from "./domain/App.ts"

export class AppRepo extends Effect.Service<AppRepo>()("gatehouse/catalog/AppRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    /** By name: a prepared statement outlives the columns that later programs add. */
    const columns = sql.csv(Object.keys(App.fields).map((name) => sql`${sql(name)}`))

    const insertRow = SqlSchema.void({
      Request: App,
      execute: (row) => sql`INSERT INTO apps ${sql.insert(row)}`
    })
    const insert = Effect.fn("AppRepo.insert")(function* (app: App) {
      yield* Effect.catchAll(insertRow(app), (error): Effect.Effect<never, TenantNotFound> =>
        error._tag === "SqlError" && Option.contains(sqlReference(error), "apps_tenant_id_fkey")
          ? Effect.fail(new TenantNotFound())
          : Effect.die(error)
      )
    })
    const update = Effect.fn("AppRepo.update")(
      SqlSchema.void({
        Request: App,
        execute: (row) => sql`UPDATE apps SET ${sql.update(row, ["id", "tenantId", "createdAt"])} WHERE id = ${row.id}`
      }),
      Effect.orDie
    )
    const slugIsFree = Effect.fn("AppRepo.slugIsFree")(
      (tenantId: TenantId, slug: string) => sql`SELECT 1 FROM apps WHERE tenant_id = ${tenantId} AND slug = ${slug}`,
      Effect.map((rows) => rows.length === 0),
      Effect.orDie
    )
    const lockSlugs = Effect.fn("AppRepo.lockSlugs")(
      (tenantId: TenantId) => sql`SELECT pg_advisory_xact_lock(hashtextextended(${`apps:${tenantId}`}, 0))`,
      Effect.asVoid,
      Effect.orDie
    )
    const byId = flow(
      SqlSchema.findOne({
        Request: AppId,
        Result: App,
        execute: (id) => sql`/* prepared: app_by_id */ SELECT ${columns} FROM apps WHERE id = ${id}`
      }),
      Effect.orDie
    )
    /** Nobody else changes the app until the transaction ends. */
    const locked = Effect.fn("AppRepo.locked")(
      SqlSchema.findOne({
        Request: AppId,
        Result: App,
        execute: (id) => sql`SELECT * FROM apps WHERE id = ${id} FOR NO KEY UPDATE`
      }),
      Effect.orDie
    )
    /** Besides, nothing appears in the app: no customer, no product. */
    const lockedWhole = Effect.fn("AppRepo.lockedWhole")(
      SqlSchema.findOne({
        Request: AppId,
        Result: App,
        execute: (id) => sql`SELECT * FROM apps WHERE id = ${id} FOR UPDATE`
      }),
      Effect.orDie
    )
    const remove = Effect.fn("AppRepo.remove")(
      (id: AppId) => sql`DELETE FROM apps WHERE id = ${id}`,
      Effect.asVoid,
      Effect.orDie
    )
    /** The app that a description means: by bundle id, then package name, then slug; one in use before an archived one. */
    const described = Effect.fn("AppRepo.described")(
      SqlSchema.findOne({
        Request: Schema.Struct({
          tenantId: TenantId,
          bundleId: Schema.NullOr(Schema.String),
          packageName: Schema.NullOr(Schema.String),
          slug: Schema.String
        }),
        Result: App,
        execute: ({ bundleId, packageName, slug, tenantId }) => sql`
          SELECT * FROM apps WHERE tenant_id = ${tenantId}
          AND (bundle_id = ${bundleId} OR package_name = ${packageName} OR slug = ${slug})
          ORDER BY bundle_id = ${bundleId} DESC NULLS LAST, package_name = ${packageName} DESC NULLS LAST,
            status = 'archived', id LIMIT 1 FOR NO KEY UPDATE`
      }),
      Effect.orDie
    )
    const byUuid = Effect.fn("AppRepo.byUuid")(
      SqlSchema.findOne({
        Request: Schema.Struct({ tenantId: TenantId, uuid: Schema.UUID }),
        Result: App,
        execute: ({ tenantId, uuid }) =>
          sql`SELECT * FROM apps WHERE tenant_id = ${tenantId} AND id = ${uuid} FOR NO KEY UPDATE`
      }),
      Effect.orDie
    )
    const bySlug = Effect.fn("AppRepo.bySlug")(
      SqlSchema.findOne({
        Request: Schema.Struct({ tenantId: TenantId, slug: Schema.String }),
        Result: App,
        execute: ({ slug, tenantId }) =>
          sql`SELECT * FROM apps WHERE tenant_id = ${tenantId} AND slug = ${slug} FOR NO KEY UPDATE`
      }),
      Effect.orDie
    )
    const byPublicKey = Effect.fn("AppRepo.byPublicKey")(
      SqlSchema.findOne({
        Request: Schema.String,
        Result: Schema.Struct({ id: AppId, status: AppStatus }),
        execute: (key) => sql`SELECT id, status FROM apps WHERE public_api_key = ${key}`
      }),
      Effect.orDie
    )
    const page = Effect.fn("AppRepo.page")(
      SqlSchema.findAll({
        Request: Schema.Struct({
          tenantId: TenantId,
          status: Schema.NullOr(AppStatus),
          before: Schema.NullOr(Schema.UUID),
          limit: Schema.Int
        }),
        Result: App,
        execute: ({ before, limit, status, tenantId }) => sql`
          SELECT * FROM apps WHERE tenant_id = ${tenantId}
          AND ${status === null ? sql`status <> 'archived'` : sql`status = ${status}`}
          AND (${before}::uuid IS NULL OR id < ${before}::uuid) ORDER BY id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    return {
      insert,
      update,
      slugIsFree,
      lockSlugs,
      byId,
      locked,
      lockedWhole,
      remove,
      described,
      byUuid,
      bySlug,
      byPublicKey,
      page
    } as const
  })
}) {}
