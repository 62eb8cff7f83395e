import { HttpApiBuilder } from "@effect/platform"
import { DateTime, Duration, Effect, Option, Record, Redacted } from "effect"
import { BadGateway, Conflict, Invalid, NotFound, Unavailable } from "../api/Problem.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { callerApp } from "../catalog/CallerAppHttp.ts"
import { fieldErrors } from "../http/FieldErrors.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import { Credentials } from "./Credentials.ts"
import { StorePurchases } from "./StorePurchases.ts"
import type { Credential } from "./domain/Credential.ts"

const credentialItem = (credential: Credential) => ({
  uuid: credential.id,
  platform: credential.platform,
  environment: credential.environment,
  store_a_issuer_id: Option.getOrNull(credential.storeAIssuerId),
  store_a_key_id: Option.getOrNull(credential.storeAKeyId),
  store_a_bundle_id: Option.getOrNull(credential.storeABundleId),
  store_b_package_name: Option.getOrNull(credential.storeBPackageName),
  store_b_client_email: Option.getOrNull(credential.storeBClientEmail),
  has_private_key: credential.platform === "store_a",
  has_service_account: credential.platform === "store_b",
  created_at: DateTime.formatIso(credential.createdAt),
  updated_at: DateTime.formatIso(credential.updatedAt)
})

const revealed = (field: unknown): unknown => (Redacted.isRedacted(field) ? Redacted.value(field) : field)

export const CredentialsHttp = HttpApiBuilder.group(ServiceApi, "credentials", (handlers) =>
  Effect.gen(function* () {
    const credentials = yield* Credentials
    const stores = yield* StorePurchases

    return handlers
      .handle("listCredentials", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const page = yield* pageOf(urlParams)
          return pageAnswer(yield* credentials.page(app.id, page), page.limit, ({ id }) => id, credentialItem)
        })
      )
      .handle("putCredential", ({ path, payload }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          return { data: credentialItem(yield* credentials.put(app, Record.map(payload, revealed))) }
        }).pipe(
          Effect.catchTag(
            "CredentialRefused",
            ({ issues }) => new Invalid({ message: "The given data was invalid.", errors: fieldErrors(issues) })
          )
        )
      )
      .handle("deleteCredential", ({ path }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const uuid = yield* credentials.remove(app.id, path.credential)
          return { data: { uuid, deleted: true as const } }
        }).pipe(Effect.catchTag("CredentialNotFound", () => new NotFound({ message: "No such credential." })))
      )
      .handle("verifyCredential", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const said = yield* stores.verify(app, path.platform, urlParams.environment).pipe(
            Effect.map((answer) => ({ accepted: true, answer })),
            Effect.catchTag("CredentialRejected", ({ detail }) =>
              Effect.succeed({ accepted: false, answer: `The store refuses the credential: ${detail}.` })
            )
          )
          const checkedAt = DateTime.formatIso(yield* DateTime.now)
          return { data: { platform: path.platform, ...urlParams, ...said, checked_at: checkedAt } }
        }).pipe(
          Effect.catchTags({
            NoCredential: () => new Conflict({ message: `The app has no credential for ${path.platform}.` }),
            StoreAnswerWrong: ({ detail }) => new BadGateway({ message: `The store answered wrongly: ${detail}.` }),
            StoreDown: ({ detail }) =>
              new Unavailable({ message: `The store does not answer: ${detail}.`, retryAfter: 30 }),
            StoreLimited: ({ retryAfter }) =>
              new Unavailable({
                message: "The store asks for a pause.",
                retryAfter: Math.ceil(Duration.toSeconds(retryAfter))
              })
          })
        )
      )
  })
)
