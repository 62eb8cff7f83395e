import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { AppId } from "./domain/App.ts"
import { Product, ProductId, StoreName } from "./domain/Product.ts"

export const ProductOfApp = Schema.Struct({ ...Product.fields, appId: AppId })
export type ProductOfApp = typeof ProductOfApp.Type

export class ProductRepo extends Effect.Service<ProductRepo>()("gatehouse/catalog/ProductRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** False when the app has a product of that store and identifier. */
    const insert = Effect.fn("ProductRepo.insert")(
      (product: ProductOfApp, createdAt: Date) => sql`
        INSERT INTO products ${sql.insert({ ...product, createdAt, updatedAt: createdAt })}
        ON CONFLICT (app_id, store, identifier) DO NOTHING RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    const byId = Effect.fn("ProductRepo.byId")(
      SqlSchema.findOne({
        Request: ProductId,
        Result: ProductOfApp,
        execute: (id) => sql`SELECT * FROM products WHERE id = ${id}`
      }),
      Effect.orDie
    )
    const byKey = Effect.fn("ProductRepo.byKey")(
      SqlSchema.findOne({
        Request: Schema.Struct({ appId: AppId, store: StoreName, identifier: Schema.String }),
        Result: ProductOfApp,
        execute: ({ appId, identifier, store }) =>
          sql`SELECT * FROM products WHERE app_id = ${appId} AND store = ${store} AND identifier = ${identifier}`
      }),
      Effect.orDie
    )
    const named = Effect.fn("ProductRepo.named")(
      SqlSchema.findAll({
        Request: Schema.Struct({ appId: AppId, identifiers: Schema.Array(Schema.String) }),
        Result: ProductOfApp,
        execute: ({ appId, identifiers }) =>
          sql`SELECT * FROM products WHERE app_id = ${appId} AND identifier = ANY(${identifiers})`
      }),
      Effect.orDie
    )
    const page = Effect.fn("ProductRepo.page")(
      SqlSchema.findAll({
        Request: Schema.Struct({ appId: AppId, before: Schema.NullOr(Schema.UUID), limit: Schema.Int }),
        Result: Product,
        execute: ({ appId, before, limit }) => sql`
          SELECT * FROM products WHERE app_id = ${appId} AND (${before}::uuid IS NULL OR id < ${before}::uuid)
          ORDER BY id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    const update = Effect.fn("ProductRepo.update")(
      ({ appId, ...product }: ProductOfApp, updatedAt: Date) =>
        sql`UPDATE products SET ${sql.update({ ...product, updatedAt }, ["id"])} WHERE id = ${product.id}`,
      Effect.asVoid,
      Effect.orDie
    )
    const remove = Effect.fn("ProductRepo.remove")(
      (id: ProductId) => sql`DELETE FROM products WHERE id = ${id} RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    /** One identifier stands for all its products: each is unlocked by what unlocks one of them. */
    const joinSiblings = Effect.fn("ProductRepo.joinSiblings")(
      (appId: AppId, identifier: string) => sql`
        INSERT INTO entitlement_products (entitlement_id, product_id)
        SELECT DISTINCT links.entitlement_id, sibling.id
        FROM products one JOIN entitlement_products links ON links.product_id = one.id
        JOIN products sibling ON sibling.app_id = one.app_id AND sibling.identifier = one.identifier
        WHERE one.app_id = ${appId} AND one.identifier = ${identifier}
        ON CONFLICT DO NOTHING`,
      Effect.asVoid,
      Effect.orDie
    )
    const orphaned = (appId: AppId, identifier: string) => sql`
      packages.offering_id = offerings.id AND offerings.app_id = ${appId}
      AND packages.product_identifier = ${identifier}
      AND NOT EXISTS (SELECT 1 FROM products WHERE app_id = ${appId} AND identifier = ${identifier})`

    /** Packages whose last product went go with it. */
    const removePackages = Effect.fn("ProductRepo.removePackages")(
      (appId: AppId, identifier: string) =>
        sql`DELETE FROM packages USING offerings WHERE ${orphaned(appId, identifier)}`,
      Effect.asVoid,
      Effect.orDie
    )
    /** Packages follow the rename of their last product. */
    const renameInPackages = Effect.fn("ProductRepo.renameInPackages")(
      (appId: AppId, from: string, to: string, updatedAt: Date) => sql`
        UPDATE packages SET product_identifier = ${to}, updated_at = ${updatedAt}
        FROM offerings WHERE ${orphaned(appId, from)}`,
      Effect.asVoid,
      Effect.orDie
    )
    return {
      insert,
      byId,
      byKey,
      named,
      page,
      update,
      remove,
      joinSiblings,
      removePackages,
      renameInPackages
    } as const
  })
}) {}
