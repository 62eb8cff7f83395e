import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { AppId } from "./domain/App.ts"
import { Offering, OfferingId, PresentedOffering } from "./domain/Offering.ts"

export const OfferingOfApp = Schema.Struct({ ...Offering.fields, appId: AppId })
export type OfferingOfApp = typeof OfferingOfApp.Type

export class OfferingRepo extends Effect.Service<OfferingRepo>()("gatehouse/catalog/OfferingRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const whole = sql`
      offerings.id, offerings.app_id, offerings.identifier, offerings.is_current,
      coalesce((
        SELECT jsonb_agg(jsonb_build_object('id', packages.id, 'identifier', packages.identifier,
          'packageType', packages.package_type, 'productIdentifier', packages.product_identifier) ORDER BY packages.id)
        FROM packages WHERE packages.offering_id = offerings.id
      ), '[]') AS packages`

    const presentedPackages = sql`
      SELECT jsonb_agg(jsonb_build_object('id', packages.id, 'identifier', packages.identifier,
        'packageType', packages.package_type, 'productIdentifier', packages.product_identifier,
        'products', coalesce((
          SELECT jsonb_agg(jsonb_build_object('id', products.id, 'store', products.store,
            'identifier', products.identifier, 'name', products.name, 'type', products.type,
            'subscriptionPeriod', products.subscription_period, 'priceMicros', products.price_micros,
            'currency', products.currency) ORDER BY products.store)
          FROM products
          WHERE products.app_id = offerings.app_id AND products.identifier = packages.product_identifier
        ), '[]')) ORDER BY packages.id)
      FROM packages WHERE packages.offering_id = offerings.id`

    /** False when the app has an offering of that identifier. */
    const insert = Effect.fn("OfferingRepo.insert")(
      (row: {
        id: OfferingId
        appId: AppId
        identifier: string
        isCurrent: boolean
        createdAt: Date
        updatedAt: Date
      }) => sql`INSERT INTO offerings ${sql.insert(row)} ON CONFLICT (app_id, identifier) DO NOTHING RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    const byId = Effect.fn("OfferingRepo.byId")(
      SqlSchema.findOne({
        Request: OfferingId,
        Result: OfferingOfApp,
        execute: (id) => sql`SELECT ${whole} FROM offerings WHERE id = ${id}`
      }),
      Effect.orDie
    )
    const isTaken = Effect.fn("OfferingRepo.isTaken")(
      (appId: AppId, identifier: string) =>
        sql`SELECT 1 FROM offerings WHERE app_id = ${appId} AND identifier = ${identifier}`,
      Effect.map((rows) => rows.length > 0),
      Effect.orDie
    )
    const page = Effect.fn("OfferingRepo.page")(
      SqlSchema.findAll({
        Request: Schema.Struct({ appId: AppId, before: Schema.NullOr(Schema.UUID), limit: Schema.Int }),
        Result: Offering,
        execute: ({ appId, before, limit }) => sql`
          SELECT ${whole} FROM offerings WHERE app_id = ${appId}
          AND (${before}::uuid IS NULL OR id < ${before}::uuid) ORDER BY id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    /** The current one first, the others oldest first. */
    const presented = Effect.fn("OfferingRepo.presented")(
      SqlSchema.findAll({
        Request: AppId,
        Result: PresentedOffering,
        execute: (appId) => sql`
          SELECT offerings.id, offerings.identifier, offerings.is_current,
            coalesce((${presentedPackages}), '[]') AS packages
          FROM offerings WHERE app_id = ${appId} ORDER BY is_current DESC, id`
      }),
      Effect.orDie
    )
    /** Takes the flag from the offering that has it. */
    const clearCurrent = Effect.fn("OfferingRepo.clearCurrent")(
      (appId: AppId, updatedAt: Date) =>
        sql`UPDATE offerings SET is_current = false, updated_at = ${updatedAt} WHERE app_id = ${appId} AND is_current`,
      Effect.asVoid,
      Effect.orDie
    )
    const update = Effect.fn("OfferingRepo.update")(
      (id: OfferingId, row: { identifier: string; isCurrent: boolean; updatedAt: Date }) =>
        sql`UPDATE offerings SET ${sql.update(row)} WHERE id = ${id}`,
      Effect.asVoid,
      Effect.orDie
    )
    const remove = Effect.fn("OfferingRepo.remove")(
      (id: OfferingId) => sql`DELETE FROM offerings WHERE id = ${id} RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    return { insert, byId, isTaken, page, presented, clearCurrent, update, remove } as const
  })
}) {}
