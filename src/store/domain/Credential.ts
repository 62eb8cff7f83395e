import { Either, Option, ParseResult, Schema } from "effect"
import { privateKey } from "./PrivateKey.ts"
import { Environment } from "./PurchaseFact.ts"
import { readServiceAccount, ServiceAccount } from "./ServiceAccount.ts"
import { told } from "./Told.ts"

export const CredentialId = Schema.UUID.pipe(Schema.brand("CredentialId"))
export type CredentialId = typeof CredentialId.Type

/** The stores that the server calls with a credential. */
export const CredentialPlatform = Schema.Literal("store_a", "store_b")
export type CredentialPlatform = typeof CredentialPlatform.Type

/** What may be shown of a credential. Its secret is kept beside it, sealed, and is always there. */
export class Credential extends Schema.Class<Credential>("Credential")({
  id: CredentialId,
  platform: CredentialPlatform,
  environment: Environment,
  storeAIssuerId: Schema.OptionFromNullOr(Schema.String),
  storeAKeyId: Schema.OptionFromNullOr(Schema.String),
  storeABundleId: Schema.OptionFromNullOr(Schema.String),
  storeBPackageName: Schema.OptionFromNullOr(Schema.String),
  storeBClientEmail: Schema.OptionFromNullOr(Schema.String),
  createdAt: Schema.DateTimeUtcFromDate,
  updatedAt: Schema.DateTimeUtcFromDate
}) {}

/** What decides about a request besides the request itself. */
export interface CredentialRules {
  readonly appHasBundleId: boolean
  readonly appHasPackageName: boolean
  /** The one token address that is allowed besides store B's own. */
  readonly tokenUri: Option.Option<string>
}

const sentences = {
  platform: "must be store_a or store_b",
  environment: "must be production or sandbox",
  issuerId: "must be the issuer id, a UUID",
  keyId: "must be the key id, 10 capital letters and digits",
  privateKey: "must be a P-256 private key in PKCS#8 PEM, as the store gives it",
  serviceAccount: "must be the text of a service-account file",
  name: "must consist of letters, digits and . _ -"
}

const needed = <A, I>(schema: Schema.Schema<A, I>, sentence: string) =>
  Schema.propertySignature(schema).annotations(told(sentence))

const matching = (shape: RegExp, sentence: string, absent = sentence) =>
  Schema.String.annotations(told(absent)).pipe(Schema.pattern(shape, told(sentence)))

const nameShape = /^[\w.-]{1,255}$/

/** The app's own name in the store may be left to the app, if it has one. */
const nameInStore = (appHasIt: boolean, field: string) => {
  const absent = `is needed, because the app has no ${field}`
  return appHasIt
    ? Schema.optionalWith(Schema.NullOr(matching(nameShape, sentences.name)).annotations(told(sentences.name)), {
        exact: true,
        default: () => null
      })
    : needed(matching(nameShape, sentences.name, absent), absent)
}

const belongsTo = (platform: CredentialPlatform) =>
  Schema.optionalWith(Schema.Null.annotations(told(`belongs to a credential of ${platform}`)), { exact: true })

const serviceAccount = (tokenUri: Option.Option<string>) =>
  Schema.transformOrFail(Schema.String.annotations(told(sentences.serviceAccount)), Schema.typeSchema(ServiceAccount), {
    strict: true,
    decode: (file, _, ast) =>
      Either.mapLeft(readServiceAccount(file, tokenUri), (wrong) => {
        const [first, ...more] = wrong.map((sentence) => new ParseResult.Type(ast, file, sentence))
        return first === undefined
          ? new ParseResult.Type(ast, file)
          : new ParseResult.Composite(ast, file, [first, ...more])
      }),
    encode: (account, _, ast) => ParseResult.fail(new ParseResult.Forbidden(ast, account, "is only read"))
  })

const environment = Schema.optionalWith(Environment.annotations(told(sentences.environment)), {
  exact: true,
  default: () => "production" as const
})

const ofStoreA = ({ appHasBundleId }: CredentialRules) =>
  Schema.Struct({
    platform: Schema.Literal("store_a"),
    environment,
    store_a_issuer_id: needed(
      matching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i, sentences.issuerId),
      sentences.issuerId
    ),
    store_a_key_id: needed(matching(/^[A-Z\d]{10}$/, sentences.keyId), sentences.keyId),
    store_a_private_key: needed(privateKey("p256", sentences.privateKey), sentences.privateKey),
    store_a_bundle_id: nameInStore(appHasBundleId, "bundle_id"),
    store_b_package_name: belongsTo("store_b"),
    store_b_service_account_json: belongsTo("store_b")
  })

const ofStoreB = ({ appHasPackageName, tokenUri }: CredentialRules) =>
  Schema.Struct({
    platform: Schema.Literal("store_b"),
    environment,
    store_b_package_name: nameInStore(appHasPackageName, "package_name"),
    store_b_service_account_json: needed(serviceAccount(tokenUri), sentences.serviceAccount),
    store_a_issuer_id: belongsTo("store_a"),
    store_a_key_id: belongsTo("store_a"),
    store_a_private_key: belongsTo("store_a"),
    store_a_bundle_id: belongsTo("store_a")
  })

const ofNeither = Schema.Struct({ platform: needed(Schema.Never, sentences.platform), environment })

/** A request that may be stored: what it needs is there, the secrets parse and are redacted. */
export type CredentialDraft = ReturnType<typeof ofStoreA>["Type"] | ReturnType<typeof ofStoreB>["Type"]

/**
 * Judges a request to store a credential as a whole, because its platform and its app decide what it needs (subscription
 * management, part 2, "Store credential"). Left: everything that is wrong with it at once, by
 * field; no sentence quotes a value.
 */
export const readCredential = (
  body: { readonly [field: string]: unknown },
  rules: CredentialRules
): Either.Either<CredentialDraft, ReadonlyArray<ParseResult.ArrayFormatterIssue>> => {
  const judge = <A, I>(shape: Schema.Schema<A, I>) => Schema.decodeUnknownEither(shape, { errors: "all" })(body)
  const judged: Either.Either<CredentialDraft, ParseResult.ParseError> =
    body["platform"] === "store_a"
      ? judge(ofStoreA(rules))
      : body["platform"] === "store_b"
        ? judge(ofStoreB(rules))
        : Either.map(judge(ofNeither), ({ platform }) => platform)
  return Either.mapLeft(judged, ParseResult.ArrayFormatter.formatErrorSync)
}
