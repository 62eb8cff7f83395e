import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect } from "effect"
import { AppId } from "./domain/App.ts"
import type { PlannedEntitlement, PlannedOffering, PlannedPackage, PlannedProduct } from "./domain/CatalogPlan.ts"
import { Entitlement } from "./domain/Entitlement.ts"
import { Offering } from "./domain/Offering.ts"
import { Product } from "./domain/Product.ts"

type Identified<Row> = Row & { readonly id: string }

/** Whole catalogues: read in three statements, written in one per kind of record, whatever their number of rows. */
export class BootstrapRepo extends Effect.Service<BootstrapRepo>()("gatehouse/catalog/BootstrapRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const products = Effect.fn("BootstrapRepo.products")(
      SqlSchema.findAll({
        Request: AppId,
        Result: Product,
        execute: (appId) => sql`SELECT * FROM products WHERE app_id = ${appId}`
      }),
      Effect.orDie
    )
    const entitlements = Effect.fn("BootstrapRepo.entitlements")(
      SqlSchema.findAll({
        Request: AppId,
        Result: Entitlement,
        execute: (appId) => sql`
          SELECT entitlements.id, entitlements.identifier, entitlements.name,
            coalesce(array_agg(DISTINCT products.identifier COLLATE "C") FILTER (WHERE products.id IS NOT NULL), '{}')
              AS product_identifiers
          FROM entitlements
          LEFT JOIN entitlement_products ON entitlement_products.entitlement_id = entitlements.id
          LEFT JOIN products ON products.id = entitlement_products.product_id
          WHERE entitlements.app_id = ${appId} GROUP BY entitlements.id`
      }),
      Effect.orDie
    )
    const offerings = Effect.fn("BootstrapRepo.offerings")(
      SqlSchema.findAll({
        Request: AppId,
        Result: Offering,
        execute: (appId) => sql`
          SELECT offerings.id, offerings.identifier, offerings.is_current,
            coalesce(jsonb_agg(jsonb_build_object('id', packages.id, 'identifier', packages.identifier,
              'packageType', packages.package_type, 'productIdentifier', packages.product_identifier)
              ORDER BY packages.id) FILTER (WHERE packages.id IS NOT NULL), '[]') AS packages
          FROM offerings LEFT JOIN packages ON packages.offering_id = offerings.id
          WHERE offerings.app_id = ${appId} GROUP BY offerings.id`
      }),
      Effect.orDie
    )

    const writeProducts = Effect.fn("BootstrapRepo.writeProducts")(
      (appId: AppId, rows: ReadonlyArray<Identified<PlannedProduct>>, now: Date) => sql`
        INSERT INTO products (id, app_id, store, identifier, name, type, subscription_period, price_micros, currency,
          created_at, updated_at)
        SELECT id, ${appId}::uuid, store, identifier, name, type, "subscriptionPeriod", "priceMicros", currency,
          ${now}::timestamptz, ${now}::timestamptz
        FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS row (id uuid, store text, identifier text, name text,
          type text, "subscriptionPeriod" text, "priceMicros" bigint, currency text)
        ON CONFLICT (app_id, store, identifier) DO UPDATE SET name = EXCLUDED.name, type = EXCLUDED.type,
          subscription_period = EXCLUDED.subscription_period, price_micros = EXCLUDED.price_micros,
          currency = EXCLUDED.currency, updated_at = EXCLUDED.updated_at`,
      Effect.asVoid,
      Effect.orDie
    )
    const writeEntitlements = Effect.fn("BootstrapRepo.writeEntitlements")(
      (appId: AppId, rows: ReadonlyArray<Identified<PlannedEntitlement>>, now: Date) => sql`
        INSERT INTO entitlements (id, app_id, identifier, name, created_at, updated_at)
        SELECT id, ${appId}::uuid, identifier, name, ${now}::timestamptz, ${now}::timestamptz
        FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS row (id uuid, identifier text, name text)
        ON CONFLICT (app_id, identifier) DO UPDATE SET name = EXCLUDED.name, updated_at = EXCLUDED.updated_at`,
      Effect.asVoid,
      Effect.orDie
    )
    /** After products and entitlements: each named identifier means the products of all stores that carry it. */
    const link = Effect.fn("BootstrapRepo.link")(
      (appId: AppId, rows: ReadonlyArray<PlannedEntitlement>) => sql`
        INSERT INTO entitlement_products (entitlement_id, product_id)
        SELECT entitlements.id, products.id
        FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS row (identifier text, "productIdentifiers" jsonb)
        CROSS JOIN LATERAL jsonb_array_elements_text("productIdentifiers") AS product (identifier)
        JOIN entitlements ON entitlements.app_id = ${appId} AND entitlements.identifier = row.identifier
        JOIN products ON products.app_id = ${appId} AND products.identifier = product.identifier
        ON CONFLICT DO NOTHING`,
      Effect.asVoid,
      Effect.orDie
    )
    /** New products join what unlocks a product of another store under their identifier. */
    const joinSiblings = Effect.fn("BootstrapRepo.joinSiblings")(
      (appId: AppId, identifiers: ReadonlyArray<string>) => sql`
        INSERT INTO entitlement_products (entitlement_id, product_id)
        SELECT DISTINCT links.entitlement_id, sibling.id
        FROM products one JOIN entitlement_products links ON links.product_id = one.id
        JOIN products sibling ON sibling.app_id = one.app_id AND sibling.identifier = one.identifier
        WHERE one.app_id = ${appId} AND one.identifier = ANY(${identifiers})
        ON CONFLICT DO NOTHING`,
      Effect.asVoid,
      Effect.orDie
    )
    const clearCurrent = Effect.fn("BootstrapRepo.clearCurrent")(
      (appId: AppId, now: Date) =>
        sql`UPDATE offerings SET is_current = false, updated_at = ${now} WHERE app_id = ${appId} AND is_current`,
      Effect.asVoid,
      Effect.orDie
    )
    const writeOfferings = Effect.fn("BootstrapRepo.writeOfferings")(
      (appId: AppId, rows: ReadonlyArray<Identified<PlannedOffering>>, now: Date) => sql`
        INSERT INTO offerings (id, app_id, identifier, is_current, created_at, updated_at)
        SELECT id, ${appId}::uuid, identifier, "isCurrent", ${now}::timestamptz, ${now}::timestamptz
        FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS row (id uuid, identifier text, "isCurrent" boolean)
        ON CONFLICT (app_id, identifier) DO UPDATE
        SET is_current = EXCLUDED.is_current, updated_at = EXCLUDED.updated_at`,
      Effect.asVoid,
      Effect.orDie
    )
    const writePackages = Effect.fn("BootstrapRepo.writePackages")(
      (appId: AppId, rows: ReadonlyArray<Identified<PlannedPackage & { readonly offering: string }>>, now: Date) => sql`
        INSERT INTO packages (id, offering_id, identifier, package_type, product_identifier, created_at, updated_at)
        SELECT row.id, offerings.id, row.identifier, "packageType", "productIdentifier", ${now}::timestamptz,
          ${now}::timestamptz
        FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS row (id uuid, offering text, identifier text,
          "packageType" text, "productIdentifier" text)
        JOIN offerings ON offerings.app_id = ${appId} AND offerings.identifier = row.offering
        ON CONFLICT (offering_id, identifier) DO UPDATE SET package_type = EXCLUDED.package_type,
          product_identifier = EXCLUDED.product_identifier, updated_at = EXCLUDED.updated_at`,
      Effect.asVoid,
      Effect.orDie
    )
    return {
      products,
      entitlements,
      offerings,
      writeProducts,
      writeEntitlements,
      link,
      joinSiblings,
      clearCurrent,
      writeOfferings,
      writePackages
    } as const
  })
}) {}
