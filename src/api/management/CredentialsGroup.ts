import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { CredentialPlatform } from "../../store/domain/Credential.ts"
import { Environment } from "../../store/domain/PurchaseFact.ts"
import { data, Deleted, fields, list, Timestamp } from "../Envelope.ts"
import { PageQuery } from "../Page.ts"
import { BadGateway, BadRequest, Conflict, Invalid, NotFound } from "../Problem.ts"
import { repeatable } from "../Repeatable.ts"
import { AccessTokenAuth, requires } from "../Security.ts"
import { appPath } from "./AppsGroup.ts"

const ofStoreA = "Of `store_a`; null for the other"
const ofStoreB = "Of `store_b`; null for the other"

export const Credential = Schema.Struct({
  uuid: Schema.String,
  platform: CredentialPlatform,
  environment: Environment,
  store_a_issuer_id: Schema.NullOr(Schema.String).annotations({ description: ofStoreA }),
  store_a_key_id: Schema.NullOr(Schema.String).annotations({ description: ofStoreA }),
  store_a_bundle_id: Schema.NullOr(Schema.String).annotations({
    description: "Of `store_a`; null where the app's own `bundle_id` is used"
  }),
  store_b_package_name: Schema.NullOr(Schema.String).annotations({
    description: "Of `store_b`; null where the app's own `package_name` is used"
  }),
  store_b_client_email: Schema.NullOr(Schema.String).annotations({
    description: `The service account's address, to tell it from others. ${ofStoreB}`
  }),
  has_private_key: Schema.Boolean.annotations({ description: "A private key is kept; it is never shown" }),
  has_service_account: Schema.Boolean.annotations({ description: "A service account is kept; it is never shown" }),
  created_at: Timestamp,
  updated_at: Timestamp
}).annotations({
  identifier: "Credential",
  examples: [
    {
      uuid: "0199f3a0-5c1e-7d3a-9a55-0a2f5a3c1b11",
      platform: "store_a",
      environment: "production",
      store_a_issuer_id: "57246542-96fe-1a63-e053-0824d011072a",
      store_a_key_id: "2X9R4HXF34",
      store_a_bundle_id: null,
      store_b_package_name: null,
      store_b_client_email: null,
      has_private_key: true,
      has_service_account: false,
      created_at: "2026-11-21T10:00:00.000Z",
      updated_at: "2026-11-21T10:00:00.000Z"
    }
  ]
})

const nullable = (description: string, more: object = {}) => ({ type: ["string", "null"], description, ...more })

const secret = Schema.optional(Schema.Redacted(Schema.Unknown))

/**
 * Any object: which fields it needs depends on `platform` and on the app, so it is judged as a whole where both are
 * known, and a refusal names every failing field at once.
 */
const CredentialRequest = Schema.Struct(
  { store_a_private_key: secret, store_b_service_account_json: secret },
  { key: Schema.String, value: Schema.Unknown }
).annotations({
  identifier: "CredentialRequest",
  jsonSchema: {
    type: "object",
    required: ["platform"],
    examples: [
      {
        platform: "store_a",
        environment: "production",
        store_a_issuer_id: "57246542-96fe-1a63-e053-0824d011072a",
        store_a_key_id: "2X9R4HXF34",
        store_a_private_key: "-----BEGIN PRIVATE KEY-----\nMIGTAgEAMBMGByqGSM49…\n-----END PRIVATE KEY-----\n"
      }
    ],
    properties: {
      platform: { type: "string", enum: ["store_a", "store_b"] },
      environment: { type: "string", enum: ["production", "sandbox"], description: "Default: `production`" },
      store_a_issuer_id: nullable("Needed for `store_a`: the issuer id, a UUID", { format: "uuid" }),
      store_a_key_id: nullable("Needed for `store_a`: the key id", { pattern: "^[A-Z0-9]{10}$" }),
      store_a_private_key: nullable(
        "Needed for `store_a`: the text of the `.p8` file, a P-256 key as PKCS#8 PEM; line breaks may be written `\\n`",
        { writeOnly: true }
      ),
      store_a_bundle_id: nullable("For `store_a`; needed only if the app has no `bundle_id`"),
      store_b_package_name: nullable("For `store_b`; needed only if the app has no `package_name`"),
      store_b_service_account_json: nullable(
        "Needed for `store_b`: the text of the service-account file, with `client_email`, `private_key` (RSA, PKCS#8 " +
          "PEM) and a `token_uri` on the store's own hosts",
        { writeOnly: true }
      )
    }
  }
})

const Verification = Schema.Struct({
  platform: CredentialPlatform,
  environment: Environment,
  accepted: Schema.Boolean.annotations({ description: "Whether the store accepts the credential" }),
  answer: Schema.String.annotations({ description: "What the store said, for a person" }),
  checked_at: Timestamp
}).annotations({
  identifier: "CredentialVerification",
  examples: [
    {
      platform: "store_a",
      environment: "production",
      accepted: true,
      answer: "The store accepts the credential and sends a test notification.",
      checked_at: "2026-11-21T10:00:00.000Z"
    }
  ]
})

const platformPath = HttpApiSchema.param("platform", CredentialPlatform)
const credentialPath = HttpApiSchema.param("credential", Schema.String)

export class CredentialsGroup extends HttpApiGroup.make("credentials")
  .add(
    HttpApiEndpoint.get("listCredentials")`/apps/${appPath}/credentials`
      .setUrlParams(PageQuery)
      .addSuccess(list(Credential))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("credentials:read", "admin"))
      .annotate(OpenApi.Summary, "List store credentials, without secrets")
      .annotate(
        OpenApi.Description,
        "For owners and admins only: members work on everything but credentials, and a viewer sees no more than a member."
      )
  )
  .add(
    HttpApiEndpoint.post("putCredential")`/apps/${appPath}/credentials`
      .setPayload(CredentialRequest)
      .addSuccess(data(Credential), { status: 201 })
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("credentials:write", "admin"))
      .annotate(OpenApi.Summary, "Add store credentials, or replace those of the same platform and environment")
      .annotate(
        OpenApi.Description,
        "An app has one credential for each platform and environment. Another one takes its place whole and keeps its " +
          "`uuid` and `created_at`. Where an app has none for `sandbox`, the one for `production` serves both. Secrets " +
          "are encrypted at rest and never shown again. Fields of the other platform must be absent or null."
      )
  )
  .add(
    HttpApiEndpoint.del("deleteCredential")`/apps/${appPath}/credentials/${credentialPath}`
      .addSuccess(Deleted)
      .addError(NotFound.wire)
      .annotateContext(requires("credentials:write", "admin"))
      .annotate(OpenApi.Summary, "Remove store credentials and their secret")
  )
  .add(
    HttpApiEndpoint.post("verifyCredential")`/apps/${appPath}/credentials/${platformPath}/verify`
      .setUrlParams(fields({ environment: Schema.optionalWith(Environment, { default: () => "production" as const }) }))
      .addSuccess(data(Verification))
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .addError(Invalid.wire)
      .addError(BadGateway.wire)
      .annotateContext(requires("credentials:write", "admin"))
      .annotateContext(repeatable("leased"))
      .annotate(OpenApi.Summary, "Ask the store whether it accepts the credential")
      .annotate(
        OpenApi.Description,
        "Store A is asked for a test notification, which it sends to the address that is entered there. A store that " +
          "refuses the credential is a success of this call, with `accepted: false`. 409 when the app has no credential " +
          "for that platform and environment, 502 when the answer makes no sense, 503 when there is none."
      )
  )
  .middleware(AccessTokenAuth) {}
