import { createPrivateKey, type KeyObject } from "node:crypto"
import { Option, ParseResult, Redacted, Schema } from "effect"
import { told } from "./Told.ts"

/** `p256`: the keys of store A. `rsa`: those of store B's service accounts, 2048 bits or more. */
export type KeyKind = "p256" | "rsa"

const armour = /^-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----$/

const isOf: { readonly [Kind in KeyKind]: (key: KeyObject) => boolean } = {
  p256: ({ asymmetricKeyDetails, asymmetricKeyType }) =>
    asymmetricKeyType === "ec" && asymmetricKeyDetails?.namedCurve === "prime256v1",
  rsa: ({ asymmetricKeyDetails, asymmetricKeyType }) =>
    asymmetricKeyType === "rsa" && (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048
}

/**
 * A private key as PKCS#8 PEM in its one canonical form; none for anything that is not an unencrypted PKCS#8 key of that
 * kind. Line breaks may be missing, or be written as the two characters `\n`, as keys look after a trip through an
 * environment variable.
 */
export const pkcs8 = (text: string, kind: KeyKind): Option.Option<string> =>
  Option.fromNullable(armour.exec(text.replace(/\\r|\\n/g, "\n").trim())?.[1]).pipe(
    Option.map((body) => Buffer.from(body.replace(/\s/g, ""), "base64")),
    Option.flatMap(Option.liftThrowable((key) => createPrivateKey({ key, format: "der", type: "pkcs8" }))),
    Option.filter(isOf[kind]),
    Option.map((key) => key.export({ type: "pkcs8", format: "pem" }).toString())
  )

/** A key in a request or in a sealed record: redacted from here on. `sentence` is said of anything else. */
export const privateKey = (kind: KeyKind, sentence: string) =>
  Schema.transformOrFail(Schema.String.annotations(told(sentence)), Schema.RedactedFromSelf(Schema.String), {
    strict: true,
    decode: (text, _, ast) =>
      Option.match(pkcs8(text, kind), {
        onNone: () => ParseResult.fail(new ParseResult.Type(ast, text, sentence)),
        onSome: (pem) => ParseResult.succeed(Redacted.make(pem))
      }),
    encode: (key) => ParseResult.succeed(Redacted.value(key))
  })
