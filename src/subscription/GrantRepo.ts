import { SqlClient, SqlSchema } from "@effect/sql"
import { DateTime, Effect, Option, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"
import { EntitlementId } from "../catalog/domain/Entitlement.ts"
import { CustomerId } from "./domain/Customer.ts"
import { Grant, GrantId } from "./domain/Grant.ts"

export class GrantRepo extends Effect.Service<GrantRepo>()("gatehouse/subscription/GrantRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const entitlementNamed = Effect.fn("GrantRepo.entitlementNamed")(
      SqlSchema.findOne({
        Request: Schema.Struct({ appId: AppId, identifier: Schema.String }),
        Result: Schema.Struct({ id: EntitlementId }),
        execute: ({ appId, identifier }) => sql`
          SELECT id FROM entitlements WHERE app_id = ${appId} AND identifier = ${identifier} FOR KEY SHARE`
      }),
      Effect.map(Option.map(({ id }) => id)),
      Effect.orDie
    )
    const insert = Effect.fn("GrantRepo.insert")(
      (row: {
        readonly appId: AppId
        readonly customerId: CustomerId
        readonly entitlementId: EntitlementId
        readonly grant: Grant
      }) => {
        const { appId, customerId, entitlementId, grant } = row
        return sql`
          INSERT INTO grants ${sql.insert({
            id: grant.id,
            appId,
            customerId,
            entitlementId,
            grantedAt: DateTime.toDateUtc(grant.grantedAt),
            expiresDate: Option.getOrNull(Option.map(grant.expiresDate, DateTime.toDateUtc))
          })}`
      },
      Effect.asVoid,
      Effect.orDie
    )
    const selection = sql`
      SELECT grants.id, entitlements.identifier AS entitlement_identifier, grants.granted_at, grants.expires_date,
        grants.revoked_at
      FROM grants JOIN entitlements ON entitlements.id = grants.entitlement_id`

    const page = Effect.fn("GrantRepo.page")(
      SqlSchema.findAll({
        Request: Schema.Struct({ customerId: CustomerId, before: Schema.NullOr(Schema.UUID), limit: Schema.Int }),
        Result: Grant,
        execute: ({ before, customerId, limit }) => sql`
          ${selection} WHERE grants.customer_id = ${customerId}
          AND (${before}::uuid IS NULL OR grants.id < ${before}::uuid) ORDER BY grants.id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    const ofCustomer = Effect.fn("GrantRepo.ofCustomer")(
      SqlSchema.findOne({
        Request: Schema.Struct({ customerId: CustomerId, id: GrantId }),
        Result: Grant,
        execute: ({ customerId, id }) =>
          sql`${selection} WHERE grants.customer_id = ${customerId} AND grants.id = ${id} FOR UPDATE OF grants`
      }),
      Effect.orDie
    )
    const revoke = Effect.fn("GrantRepo.revoke")(
      (id: GrantId, now: DateTime.Utc) => sql`
        UPDATE grants SET revoked_at = ${DateTime.toDateUtc(now)} WHERE id = ${id} AND revoked_at IS NULL`,
      Effect.asVoid,
      Effect.orDie
    )
    return { entitlementNamed, insert, page, ofCustomer, revoke } as const
  })
}) {}
