import { SqlClient, SqlSchema } from "@effect/sql"
import { Array, Effect, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"
import { Credential, CredentialId, CredentialPlatform } from "./domain/Credential.ts"
import { Environment } from "./domain/PurchaseFact.ts"

const Place = Schema.Struct({ appId: AppId, platform: CredentialPlatform, environment: Environment })
const Stored = Schema.Struct({ ...Credential.fields, appId: AppId, secretSealed: Schema.String })
const Sealed = Schema.Struct({ ...Credential.fields, secretSealed: Schema.String })

export class CredentialRepo extends Effect.Service<CredentialRepo>()("gatehouse/store/CredentialRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** Writers of one app wait for each other: a replacement keeps the id, and the id is sealed into the secret. */
    const lock = Effect.fn("CredentialRepo.lock")(
      (appId: AppId) => sql`SELECT pg_advisory_xact_lock(hashtextextended(${`credentials:${appId}`}, 0))`,
      Effect.asVoid,
      Effect.orDie
    )
    const idAt = Effect.fn("CredentialRepo.idAt")(
      SqlSchema.findOne({
        Request: Place,
        Result: Schema.Struct({ id: CredentialId }),
        execute: ({ appId, environment, platform }) => sql`
          SELECT id FROM store_credentials
          WHERE app_id = ${appId} AND platform = ${platform} AND environment = ${environment}`
      }),
      Effect.orDie
    )
    const save = Effect.fn("CredentialRepo.save")(
      SqlSchema.single({
        Request: Stored,
        Result: Credential,
        execute: (row) => sql`
          INSERT INTO store_credentials ${sql.insert(row)} ON CONFLICT (id) DO UPDATE SET
            store_a_issuer_id = excluded.store_a_issuer_id, store_a_key_id = excluded.store_a_key_id,
            store_a_bundle_id = excluded.store_a_bundle_id, store_b_package_name = excluded.store_b_package_name,
            store_b_client_email = excluded.store_b_client_email, secret_sealed = excluded.secret_sealed,
            updated_at = excluded.updated_at
          RETURNING *`
      }),
      Effect.orDie
    )
    const page = Effect.fn("CredentialRepo.page")(
      SqlSchema.findAll({
        Request: Schema.Struct({ appId: AppId, before: Schema.NullOr(Schema.UUID), limit: Schema.Int }),
        Result: Credential,
        execute: ({ appId, before, limit }) => sql`
          SELECT * FROM store_credentials WHERE app_id = ${appId} AND (${before}::uuid IS NULL OR id < ${before}::uuid)
          ORDER BY id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    const remove = Effect.fn("CredentialRepo.remove")(
      (appId: AppId, id: CredentialId) =>
        sql`DELETE FROM store_credentials WHERE app_id = ${appId} AND id = ${id} RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    /** The environment's own, else the one of production. */
    const sealedFor = Effect.fn("CredentialRepo.sealedFor")(
      SqlSchema.findOne({
        Request: Place,
        Result: Sealed,
        execute: ({ appId, environment, platform }) => sql`
          SELECT * FROM store_credentials
          WHERE app_id = ${appId} AND platform = ${platform} AND environment IN (${environment}, 'production')
          ORDER BY environment = ${environment} DESC LIMIT 1`
      }),
      Effect.orDie
    )
    const appsOf = Effect.fn("CredentialRepo.appsOf")(
      SqlSchema.findAll({
        Request: CredentialPlatform,
        Result: Schema.Struct({ appId: AppId }),
        execute: (platform) => sql`SELECT DISTINCT app_id FROM store_credentials WHERE platform = ${platform}`
      }),
      Effect.map(Array.map(({ appId }) => appId)),
      Effect.orDie
    )
    return { lock, idAt, save, page, remove, sealedFor, appsOf } as const
  })
}) {}
