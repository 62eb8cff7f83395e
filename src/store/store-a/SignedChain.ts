import "reflect-metadata"
import { createHash, type KeyObject, verify } from "node:crypto"
import * as x509 from "@peculiar/x509"
import { Clock, Effect, Either, Encoding, Option, Schema } from "effect"
import { NotificationRefused } from "../StoreNotifications.ts"
import { type Certificate, type CertificateChain, isIssuedBy, isValidAt, parseCertificate } from "./Certificate.ts"
import { Revocation } from "./Ocsp.ts"

const leafMarker = "1.2.840.113635.100.6.11.1"
const intermediateMarker = "1.2.840.113635.100.6.2.1"
const longestPayload = 256 * 1024

const Header = Schema.parseJson(
  Schema.Struct({
    alg: Schema.Literal("ES256"),
    crit: Schema.optional(Schema.Undefined),
    x5c: Schema.Tuple(Schema.NonEmptyString, Schema.NonEmptyString, Schema.NonEmptyString)
  })
)

type Chain = (typeof Header.Type)["x5c"]

const refuse = (reason: NotificationRefused["reason"], detail: string) => new NotificationRefused({ reason, detail })

const parse = (base64: string): Either.Either<Certificate, NotificationRefused> =>
  Either.fromOption(parseCertificate(Buffer.from(base64, "base64")), () =>
    refuse("chain", "a certificate does not parse")
  )

const has = (certificate: Certificate, oid: string): boolean => certificate.parsed.getExtension(oid) !== null

const constraintsOf = ({ parsed }: Certificate) => parsed.getExtension(x509.BasicConstraintsExtension)

/** A certificate authority that may stand `below` further authorities above the leaf. */
const mayIssue = (certificate: Certificate, below: number): boolean => {
  const constraints = constraintsOf(certificate)
  const usage = certificate.parsed.getExtension(x509.KeyUsagesExtension)
  return (
    certificate.native.ca &&
    (constraints?.pathLength === undefined || constraints.pathLength >= below) &&
    (usage === null || (usage.usages & x509.KeyUsageFlags.keyCertSign) !== 0)
  )
}

const maySign = (certificate: Certificate): boolean => {
  const usage = certificate.parsed.getExtension(x509.KeyUsagesExtension)
  const key = certificate.native.publicKey
  return (
    constraintsOf(certificate)?.ca !== true &&
    (usage === null || (usage.usages & x509.KeyUsageFlags.digitalSignature) !== 0) &&
    key.asymmetricKeyType === "ec" &&
    key.asymmetricKeyDetails?.namedCurve === "prime256v1"
  )
}

const check = (holds: boolean, detail: string): Either.Either<void, NotificationRefused> =>
  holds ? Either.void : Either.left(refuse("chain", detail))

const verifyParsed = (chain: Chain, roots: ReadonlyArray<Buffer>) =>
  Either.gen(function* () {
    const [leaf, intermediate, root] = [yield* parse(chain[0]), yield* parse(chain[1]), yield* parse(chain[2])]
    yield* check(
      roots.some((pinned) => pinned.equals(root.native.raw)),
      "the root is not a pinned one"
    )
    yield* check(mayIssue(root, 1) && mayIssue(intermediate, 0), "an issuer is no certificate authority")
    yield* check(isIssuedBy(intermediate, root), "the intermediate is not issued by the root")
    yield* check(isIssuedBy(leaf, intermediate), "the leaf is not issued by the intermediate")
    yield* check(has(intermediate, intermediateMarker), "the intermediate lacks its marker")
    yield* check(has(leaf, leafMarker), "the leaf lacks its marker")
    yield* check(maySign(leaf), "the leaf may not sign")
    return [leaf, intermediate, root] as const
  })

/** The checks that time does not change: names, signatures, authorities, markers, the pinned root. */
const verifyChain = (chain: Chain, roots: ReadonlyArray<Buffer>) =>
  Either.flatMap(
    Either.try({
      try: () => verifyParsed(chain, roots),
      catch: () => refuse("chain", "a certificate with a part that does not parse")
    }),
    (verified) => verified
  )

const headerOf = (header: string): Either.Either<typeof Header.Type, NotificationRefused> =>
  Encoding.decodeBase64UrlString(header).pipe(
    Either.flatMap(Schema.decodeUnknownEither(Header)),
    Either.mapLeft(() => refuse("malformed", "the header is not ES256 with three certificates"))
  )

interface VerifiedChain {
  readonly certificates: CertificateChain
  readonly key: KeyObject
}

interface Verified {
  readonly text: string
  readonly certificates: CertificateChain
}

const parts = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/
/** Two numbers of 32 bytes each. */
const signatureLength = 64
const rememberedChains = 64

const partsOf = (jws: string): Either.Either<readonly [string, string, Buffer], NotificationRefused> => {
  const [, header, payload, signature] = jws.length > longestPayload ? [] : (parts.exec(jws) ?? [])
  const bytes = Buffer.from(signature ?? "", "base64url")
  return header === undefined || payload === undefined || bytes.length !== signatureLength
    ? Either.left(refuse("malformed", "not a compact JWS with an ES256 signature"))
    : Either.right([header, payload, bytes])
}

/**
 * Verifies a compact JWS of store A at a moment: three certificates up to a pinned root, the store's two marker
 * extensions, validity then, ES256 by the leaf's key. Answers the payload's text, nothing of which was read before, and
 * the chain. What a header proves that time does not change is remembered under the whole header, of verified ones alone.
 */
export const signatureVerifier = (roots: ReadonlyArray<Buffer>) => {
  const chains = new Map<string, VerifiedChain>()

  const chainOf = (header: string): Either.Either<VerifiedChain, NotificationRefused> => {
    const known = chains.get(header)
    if (known !== undefined) return Either.right(known)
    return Either.map(
      Either.flatMap(headerOf(header), ({ x5c }) => verifyChain(x5c, roots)),
      (certificates) => {
        const chain = { certificates, key: certificates[0].native.publicKey }
        const [oldest] = chains.size < rememberedChains ? [] : chains.keys()
        if (oldest !== undefined) chains.delete(oldest)
        chains.set(header, chain)
        return chain
      }
    )
  }

  return (jws: string, now: number): Either.Either<Verified, NotificationRefused> =>
    Either.flatMap(partsOf(jws), ([header, payload, signature]) =>
      Either.flatMap(chainOf(header), ({ certificates, key }) => {
        if (!certificates.every((certificate) => isValidAt(certificate, now))) {
          return Either.left(refuse("chain", "a certificate is not valid now"))
        }
        const signed = Buffer.from(jws.slice(0, header.length + 1 + payload.length), "latin1")
        return verify("sha256", signed, { key, dsaEncoding: "ieee-p1363" }, signature)
          ? Either.right({ text: Buffer.from(payload, "base64url").toString("utf8"), certificates })
          : Either.left(refuse("signature", "the signature does not verify"))
      })
    )
}

/** The same by the clock, and by whoever knows what is revoked; that is asked last. */
export const makeVerifier = (roots: ReadonlyArray<Buffer>) =>
  Effect.map(Revocation, ({ check }) => {
    const verified = signatureVerifier(roots)
    return (jws: string) =>
      Clock.currentTimeMillis.pipe(
        Effect.flatMap((now) => verified(jws, now)),
        Effect.flatMap(({ certificates, text }) => Effect.as(check(certificates), text))
      )
  })

/** SHA-256 of a DER certificate, uppercase hex with colons, as certificate tools print it. */
export const fingerprint = (der: Buffer): string =>
  Option.getOrElse(
    Option.fromNullable(createHash("sha256").update(der).digest("hex").toUpperCase().match(/../g)),
    (): Array<string> => []
  ).join(":")
