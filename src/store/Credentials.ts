import { SqlClient } from "@effect/sql"
import { Context, Data, DateTime, Effect, Layer, Option, type ParseResult, Redacted, Schema } from "effect"
import type { App, AppId } from "../catalog/domain/App.ts"
import { nextId } from "../kit/Id.ts"
import { Seal } from "../kit/Seal.ts"
import { CredentialRepo } from "./CredentialRepo.ts"
import {
  type Credential,
  type CredentialDraft,
  CredentialId,
  type CredentialPlatform,
  readCredential
} from "./domain/Credential.ts"
import type { Environment } from "./domain/PurchaseFact.ts"
import { ServiceAccount } from "./domain/ServiceAccount.ts"

/** A request that cannot be stored, with everything that is wrong with it. Nothing was stored. */
export class CredentialRefused extends Data.TaggedError("CredentialRefused")<{
  readonly issues: ReadonlyArray<ParseResult.ArrayFormatterIssue>
}> {}

export class CredentialNotFound extends Data.TaggedError("CredentialNotFound")<{}> {}

/** What signs calls to store A. `privateKey` is PKCS#8 PEM, P-256. `bundleId` is none where the app's own is meant. */
export interface StoreAKey {
  readonly issuerId: string
  readonly keyId: string
  readonly privateKey: Redacted.Redacted<string>
  readonly bundleId: Option.Option<string>
}

/** What obtains access to store B. `packageName` is none where the app's own is meant. */
export interface StoreBAccount {
  readonly account: ServiceAccount
  readonly packageName: Option.Option<string>
}

/**
 * What an app calls the stores with (subscription management, part 2, "Store credential"; contract, part 3, "Apps,
 * credentials, catalogue"): one for each platform and environment. Secrets are sealed under the record's id and leave
 * this service only redacted, for a driver.
 */
export class Credentials extends Context.Tag("gatehouse/store/Credentials")<
  Credentials,
  {
    /** Stores what a caller sent, in place of what was there for that platform and environment, under the same id. */
    readonly put: (
      app: App,
      body: { readonly [field: string]: unknown }
    ) => Effect.Effect<Credential, CredentialRefused>
    readonly page: (
      appId: AppId,
      page: { readonly before: Option.Option<string>; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<Credential>>
    readonly remove: (appId: AppId, id: string) => Effect.Effect<CredentialId, CredentialNotFound>
    /** For the environment, else the one of production: store A's keys work in both. None when the app has neither. */
    readonly storeA: (appId: AppId, environment: Environment) => Effect.Effect<Option.Option<StoreAKey>>
    readonly storeB: (appId: AppId, environment: Environment) => Effect.Effect<Option.Option<StoreBAccount>>
    /** The apps that have one for the platform, whatever the environment. */
    readonly appsOf: (platform: CredentialPlatform) => Effect.Effect<ReadonlyArray<AppId>>
  }
>() {
  /** `tokenUri`: a token address to accept besides store B's own, where the operator lets a simulator stand in. */
  static readonly layer = (options: { readonly tokenUri: Option.Option<string> }) =>
    Layer.effect(
      Credentials,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const seal = yield* Seal
        const repo = yield* CredentialRepo

        const store = Effect.fn("Credentials.store")(
          function* (appId: AppId, draft: CredentialDraft) {
            const { environment, platform } = draft
            yield* repo.lock(appId)
            const known = yield* repo.idAt({ appId, platform, environment })
            const id = Option.isSome(known) ? known.value.id : CredentialId.make(yield* nextId)
            const secretSealed = yield* seal.seal(yield* secretOf(draft), id)
            const now = yield* DateTime.now
            const row = { ...shownOf(draft), id, appId, platform, environment, secretSealed }
            return yield* Effect.orDie(repo.save({ ...row, createdAt: now, updatedAt: now }))
          },
          sql.withTransaction,
          Effect.catchTag("SqlError", Effect.die)
        )

        const put = Effect.fn("Credentials.put")(function* (app: App, body: { readonly [field: string]: unknown }) {
          const draft = yield* Effect.mapError(
            readCredential(body, {
              appHasBundleId: Option.isSome(app.bundleId),
              appHasPackageName: Option.isSome(app.packageName),
              tokenUri: options.tokenUri
            }),
            (issues) => new CredentialRefused({ issues })
          )
          return yield* store(app.id, draft)
        })

        const remove = Effect.fn("Credentials.remove")(function* (appId: AppId, id: string) {
          const credential = yield* Effect.mapError(
            Schema.decodeUnknown(CredentialId)(id),
            () => new CredentialNotFound()
          )
          if (!(yield* repo.remove(appId, credential))) return yield* new CredentialNotFound()
          return credential
        })

        const opened = Effect.fn("Credentials.opened")(function* (
          appId: AppId,
          platform: CredentialPlatform,
          environment: Environment
        ) {
          const found = yield* repo.sealedFor({ appId, platform, environment })
          if (Option.isNone(found)) return Option.none()
          const { secretSealed, ...credential } = found.value
          return Option.some({ credential, secret: yield* Effect.orDie(seal.open(secretSealed, credential.id)) })
        })

        const storeA = Effect.fn("Credentials.storeA")(function* (appId: AppId, environment: Environment) {
          return Option.flatMap(yield* opened(appId, "store_a", environment), ({ credential, secret }) =>
            Option.all({
              issuerId: credential.storeAIssuerId,
              keyId: credential.storeAKeyId,
              privateKey: Option.some(secret),
              bundleId: Option.some(credential.storeABundleId)
            })
          )
        })

        const storeB = Effect.fn("Credentials.storeB")(function* (appId: AppId, environment: Environment) {
          const found = yield* opened(appId, "store_b", environment)
          if (Option.isNone(found)) return Option.none()
          const { credential, secret } = found.value
          const account = yield* Effect.orDie(decodeAccount(Redacted.value(secret)))
          return Option.some({ account, packageName: credential.storeBPackageName })
        })

        return Credentials.of({
          put,
          page: (appId, { before, limit }) => repo.page({ appId, before: Option.getOrNull(before), limit }),
          remove,
          storeA,
          storeB,
          appsOf: repo.appsOf
        })
      })
    ).pipe(Layer.provide(CredentialRepo.Default))
}

const SealedAccount = Schema.parseJson(ServiceAccount)
const encodeAccount = Schema.encode(SealedAccount)
const decodeAccount = Schema.decode(SealedAccount)

const secretOf = (draft: CredentialDraft): Effect.Effect<Redacted.Redacted<string>> =>
  draft.platform === "store_a"
    ? Effect.succeed(draft.store_a_private_key)
    : Effect.map(Effect.orDie(encodeAccount(draft.store_b_service_account_json)), (text) => Redacted.make(text))

const shownOf = (draft: CredentialDraft) => ({
  storeAIssuerId: Option.fromNullable(draft.store_a_issuer_id),
  storeAKeyId: Option.fromNullable(draft.store_a_key_id),
  storeABundleId: Option.fromNullable(draft.store_a_bundle_id),
  storeBPackageName: Option.fromNullable(draft.store_b_package_name),
  storeBClientEmail: Option.map(
    Option.fromNullable(draft.store_b_service_account_json),
    ({ client_email }) => client_email
  )
})
