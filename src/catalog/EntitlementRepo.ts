import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { AppId } from "./domain/App.ts"
import { Entitlement, EntitlementId } from "./domain/Entitlement.ts"

export const EntitlementOfApp = Schema.Struct({ ...Entitlement.fields, appId: AppId })
export type EntitlementOfApp = typeof EntitlementOfApp.Type

interface Link {
  readonly entitlementId: string
  readonly productId: string
}

export class EntitlementRepo extends Effect.Service<EntitlementRepo>()("gatehouse/catalog/EntitlementRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const whole = sql`
      entitlements.id, entitlements.app_id, entitlements.identifier, entitlements.name,
      array(
        SELECT DISTINCT products.identifier COLLATE "C" FROM entitlement_products
        JOIN products ON products.id = entitlement_products.product_id
        WHERE entitlement_products.entitlement_id = entitlements.id ORDER BY 1
      ) AS product_identifiers`

    /** False when the app has an entitlement of that identifier. */
    const insert = Effect.fn("EntitlementRepo.insert")(
      (row: { id: EntitlementId; appId: AppId; identifier: string; name: string; createdAt: Date; updatedAt: Date }) =>
        sql`INSERT INTO entitlements ${sql.insert(row)} ON CONFLICT (app_id, identifier) DO NOTHING RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    const link = Effect.fn("EntitlementRepo.link")(
      (links: ReadonlyArray<Link>) => sql`
        INSERT INTO entitlement_products (entitlement_id, product_id)
        SELECT * FROM unnest(${links.map(({ entitlementId }) => entitlementId)}::uuid[],
          ${links.map(({ productId }) => productId)}::uuid[])
        ON CONFLICT DO NOTHING`,
      Effect.asVoid,
      Effect.orDie
    )
    const unlinkAll = Effect.fn("EntitlementRepo.unlinkAll")(
      (id: EntitlementId) => sql`DELETE FROM entitlement_products WHERE entitlement_id = ${id}`,
      Effect.asVoid,
      Effect.orDie
    )
    const byId = Effect.fn("EntitlementRepo.byId")(
      SqlSchema.findOne({
        Request: EntitlementId,
        Result: EntitlementOfApp,
        execute: (id) => sql`SELECT ${whole} FROM entitlements WHERE id = ${id}`
      }),
      Effect.orDie
    )
    const named = Effect.fn("EntitlementRepo.named")(
      SqlSchema.findAll({
        Request: Schema.Struct({ appId: AppId, identifiers: Schema.Array(Schema.String) }),
        Result: Schema.Struct({ id: EntitlementId, identifier: Schema.String }),
        execute: ({ appId, identifiers }) =>
          sql`SELECT id, identifier FROM entitlements WHERE app_id = ${appId} AND identifier = ANY(${identifiers})`
      }),
      Effect.orDie
    )
    const page = Effect.fn("EntitlementRepo.page")(
      SqlSchema.findAll({
        Request: Schema.Struct({ appId: AppId, before: Schema.NullOr(Schema.UUID), limit: Schema.Int }),
        Result: Entitlement,
        execute: ({ appId, before, limit }) => sql`
          SELECT ${whole} FROM entitlements WHERE app_id = ${appId}
          AND (${before}::uuid IS NULL OR id < ${before}::uuid) ORDER BY id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    const update = Effect.fn("EntitlementRepo.update")(
      (id: EntitlementId, row: { identifier: string; name: string; updatedAt: Date }) =>
        sql`UPDATE entitlements SET ${sql.update(row)} WHERE id = ${id}`,
      Effect.asVoid,
      Effect.orDie
    )
    const remove = Effect.fn("EntitlementRepo.remove")(
      (id: EntitlementId) => sql`DELETE FROM entitlements WHERE id = ${id} RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    return { insert, link, unlinkAll, byId, named, page, update, remove } as const
  })
}) {}
