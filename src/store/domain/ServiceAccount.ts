import { Either, Option, ParseResult, Schema } from "effect"
import { privateKey } from "./PrivateKey.ts"
import { told } from "./Told.ts"

/** Exactly these: other names of the same company answer with what its customers uploaded. */
const tokenHosts = ["oauth2.googleapis.com", "www.googleapis.com", "accounts.google.com"]

/**
 * Where a service account may send the server for an access token: to the store's own hosts over https, or to the very
 * address that the operator configured. Anything else would let a caller make the server fetch any address (contract,
 * part 3, "Apps, credentials, catalogue").
 */
export const isTokenUri = (text: string, override: Option.Option<string>): boolean => {
  if (Option.contains(override, text)) return true
  if (!URL.canParse(text)) return false
  const { hostname, password, port, protocol, username } = new URL(text)
  return protocol === "https:" && tokenHosts.includes(hostname) && port === "" && username === "" && password === ""
}

const email = "client_email must be an e-mail address"
const key = "private_key must be an RSA key in PKCS#8 PEM"
const keyId = "private_key_id must be text"
const uri = "token_uri must be an https address of the store itself"
const shape = "must be the JSON object of a service account"

const text = (sentence: string, holds: (value: string) => boolean) =>
  Schema.propertySignature(
    Schema.String.annotations(told(sentence)).pipe(Schema.filter(holds, told(sentence)))
  ).annotations(told(sentence))

const common = {
  client_email: text(email, (value) => /^[^\s\p{Cc}@]{1,255}@[^\s\p{Cc}@]{1,255}$/u.test(value)),
  private_key: Schema.propertySignature(privateKey("rsa", key)).annotations(told(key)),
  private_key_id: Schema.optionalWith(Schema.String.annotations(told(keyId)), { exact: true })
}

/** What is used of store B's service-account file, under the file's own names. The key is canonical PKCS#8 PEM. */
export const ServiceAccount = Schema.Struct({ ...common, token_uri: Schema.String })
export type ServiceAccount = typeof ServiceAccount.Type

/**
 * Reads the text of a service-account file. Left: a sentence for each thing that is wrong with it, none of which quotes
 * the file. `override` is the one token address that is allowed besides the store's own.
 */
export const readServiceAccount = (
  file: string,
  override: Option.Option<string>
): Either.Either<ServiceAccount, ReadonlyArray<string>> => {
  const allowed = Schema.Struct({ ...common, token_uri: text(uri, (value) => isTokenUri(value, override)) })
  return Either.mapLeft(Schema.decodeEither(Schema.parseJson(allowed), { errors: "all" })(file), (error) =>
    ParseResult.ArrayFormatter.formatErrorSync(error).map(({ message, path }) => (path.length === 0 ? shape : message))
  )
}
