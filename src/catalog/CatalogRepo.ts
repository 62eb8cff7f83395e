import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { AppId } from "./domain/App.ts"
import { Entitlement, EntitlementId } from "./domain/Entitlement.ts"
import { Product } from "./domain/Product.ts"

const Page = Schema.Struct({ appId: AppId, before: Schema.NullOr(Schema.UUID), limit: Schema.Int })
const Named = Schema.Struct({ appId: AppId, identifiers: Schema.Array(Schema.String) })
const Found = Schema.Struct({ id: Schema.UUID, identifier: Schema.String })

export class CatalogRepo extends Effect.Service<CatalogRepo>()("gatehouse/catalog/CatalogRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const insertProduct = Effect.fn("CatalogRepo.insertProduct")(
      (appId: AppId, product: Product, createdAt: Date) => sql`
        INSERT INTO products ${sql.insert({ ...product, appId, createdAt, updatedAt: createdAt })}
        ON CONFLICT (app_id, store, identifier) DO NOTHING RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    const insertEntitlement = Effect.fn("CatalogRepo.insertEntitlement")(
      (row: { id: EntitlementId; appId: AppId; identifier: string; name: string; createdAt: Date; updatedAt: Date }) =>
        sql`INSERT INTO entitlements ${sql.insert(row)} ON CONFLICT (app_id, identifier) DO NOTHING RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    const link = Effect.fn("CatalogRepo.link")(
      (links: ReadonlyArray<{ readonly entitlementId: string; readonly productId: string }>) =>
        links.length === 0
          ? Effect.void
          : sql`INSERT INTO entitlement_products ${sql.insert(links)} ON CONFLICT DO NOTHING`.pipe(Effect.asVoid),
      Effect.orDie
    )
    const productsNamed = Effect.fn("CatalogRepo.productsNamed")(
      SqlSchema.findAll({
        Request: Named,
        Result: Found,
        execute: ({ appId, identifiers }) =>
          sql`SELECT id, identifier FROM products WHERE app_id = ${appId} AND identifier = ANY(${identifiers})`
      }),
      Effect.orDie
    )
    const entitlementsNamed = Effect.fn("CatalogRepo.entitlementsNamed")(
      SqlSchema.findAll({
        Request: Named,
        Result: Found,
        execute: ({ appId, identifiers }) =>
          sql`SELECT id, identifier FROM entitlements WHERE app_id = ${appId} AND identifier = ANY(${identifiers})`
      }),
      Effect.orDie
    )
    const products = Effect.fn("CatalogRepo.products")(
      SqlSchema.findAll({
        Request: Page,
        Result: Product,
        execute: ({ appId, before, limit }) => sql`
          SELECT * FROM products WHERE app_id = ${appId} AND (${before}::uuid IS NULL OR id < ${before}::uuid)
          ORDER BY id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    const entitlements = Effect.fn("CatalogRepo.entitlements")(
      SqlSchema.findAll({
        Request: Page,
        Result: Entitlement,
        execute: ({ appId, before, limit }) => sql`
          SELECT entitlements.id, entitlements.identifier, entitlements.name,
            array(
              SELECT DISTINCT products.identifier FROM entitlement_products
              JOIN products ON products.id = entitlement_products.product_id
              WHERE entitlement_products.entitlement_id = entitlements.id ORDER BY 1
            ) AS product_identifiers
          FROM entitlements WHERE app_id = ${appId} AND (${before}::uuid IS NULL OR id < ${before}::uuid)
          ORDER BY id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    return { insertProduct, insertEntitlement, link, productsNamed, entitlementsNamed, products, entitlements } as const
  })
}) {}
