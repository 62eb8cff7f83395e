import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { AppId } from "./domain/App.ts"
import { OfferingId, Package, PackageId } from "./domain/Offering.ts"

export const PackageOfApp = Schema.Struct({ ...Package.fields, appId: AppId, offeringId: OfferingId })
export type PackageOfApp = typeof PackageOfApp.Type

export class PackageRepo extends Effect.Service<PackageRepo>()("gatehouse/catalog/PackageRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** False when the offering has a package of that identifier. */
    const insert = Effect.fn("PackageRepo.insert")(
      (row: Package & { readonly offeringId: OfferingId }, createdAt: Date) => sql`
        INSERT INTO packages ${sql.insert({ ...row, createdAt, updatedAt: createdAt })}
        ON CONFLICT (offering_id, identifier) DO NOTHING RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    const byId = Effect.fn("PackageRepo.byId")(
      SqlSchema.findOne({
        Request: PackageId,
        Result: PackageOfApp,
        execute: (id) => sql`
          SELECT packages.*, offerings.app_id FROM packages JOIN offerings ON offerings.id = packages.offering_id
          WHERE packages.id = ${id}`
      }),
      Effect.orDie
    )
    const isTaken = Effect.fn("PackageRepo.isTaken")(
      (offeringId: OfferingId, identifier: string) =>
        sql`SELECT 1 FROM packages WHERE offering_id = ${offeringId} AND identifier = ${identifier}`,
      Effect.map((rows) => rows.length > 0),
      Effect.orDie
    )
    const page = Effect.fn("PackageRepo.page")(
      SqlSchema.findAll({
        Request: Schema.Struct({ offeringId: OfferingId, before: Schema.NullOr(Schema.UUID), limit: Schema.Int }),
        Result: Package,
        execute: ({ before, limit, offeringId }) => sql`
          SELECT * FROM packages WHERE offering_id = ${offeringId}
          AND (${before}::uuid IS NULL OR id < ${before}::uuid) ORDER BY id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    const update = Effect.fn("PackageRepo.update")(
      ({ id, identifier, packageType, productIdentifier }: Package, updatedAt: Date) => sql`
        UPDATE packages SET ${sql.update({ identifier, packageType, productIdentifier, updatedAt })} WHERE id = ${id}`,
      Effect.asVoid,
      Effect.orDie
    )
    const remove = Effect.fn("PackageRepo.remove")(
      (id: PackageId) => sql`DELETE FROM packages WHERE id = ${id} RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    return { insert, byId, isTaken, page, update, remove } as const
  })
}) {}
