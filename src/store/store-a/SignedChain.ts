import "reflect-metadata"
import { createHash, X509Certificate } from "node:crypto"
import * as x509 from "@peculiar/x509"
import { Cache, Clock, Duration, Effect, Either, Encoding, Option, Schema } from "effect"
import { compactVerify, errors } from "jose"
import { NotificationRefused } from "../StoreNotifications.ts"

const leafMarker = "1.2.840.113635.100.6.11.1"
const intermediateMarker = "1.2.840.113635.100.6.2.1"
const skew = Duration.toMillis("60 seconds")
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

interface Certificate {
  readonly native: X509Certificate
  readonly parsed: x509.X509Certificate
}

const parse = (base64: string): Either.Either<Certificate, NotificationRefused> =>
  Either.try({
    try: () => {
      const der = Buffer.from(base64, "base64")
      return { native: new X509Certificate(der), parsed: new x509.X509Certificate(der) }
    },
    catch: () => refuse("chain", "a certificate does not parse")
  })

const isIssuedBy = (child: Certificate, issuer: Certificate): boolean =>
  child.native.checkIssued(issuer.native) && child.native.verify(issuer.native.publicKey)

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
    !certificate.native.ca &&
    (usage === null || (usage.usages & x509.KeyUsageFlags.digitalSignature) !== 0) &&
    key.asymmetricKeyType === "ec" &&
    key.asymmetricKeyDetails?.namedCurve === "prime256v1"
  )
}

const check = (holds: boolean, detail: string): Either.Either<void, NotificationRefused> =>
  holds ? Either.void : Either.left(refuse("chain", detail))

/** The checks that time does not change: names, signatures, authorities, markers, the pinned root. */
const verifyChain = (chain: Chain, roots: ReadonlyArray<Buffer>) =>
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

const isValidAt = ({ parsed }: Certificate, now: number): boolean =>
  parsed.notBefore.getTime() - skew <= now && now <= parsed.notAfter.getTime() + skew

const headerOf = (jws: string): Either.Either<typeof Header.Type, NotificationRefused> => {
  const [header, payload, signature, ...more] = jws.split(".")
  if (jws.length > longestPayload || !header || !payload || !signature || more.length > 0) {
    return Either.left(refuse("malformed", "not a compact JWS"))
  }
  return Encoding.decodeBase64UrlString(header).pipe(
    Either.flatMap(Schema.decodeUnknownEither(Header)),
    Either.mapLeft(() => refuse("malformed", "the header is not ES256 with three certificates"))
  )
}

/**
 * Verifies a compact JWS of store A: three certificates up to a pinned root, the store's two marker extensions, validity
 * now, ES256 by the leaf's key. Answers the payload's text; nothing of it was read before. Chains, not payloads, are
 * remembered for a quarter of an hour.
 */
export const makeVerifier = (roots: ReadonlyArray<Buffer>) =>
  Effect.gen(function* () {
    const chains = yield* Cache.make({
      capacity: 64,
      timeToLive: "15 minutes",
      lookup: (key: string) => verifyChain(chainOf(key), roots)
    })
    return Effect.fn("SignedChain.verify")(function* (jws: string) {
      const header = yield* headerOf(jws)
      const certificates = yield* chains.get(header.x5c.join(" "))
      const now = yield* Clock.currentTimeMillis
      if (!certificates.every((certificate) => isValidAt(certificate, now))) {
        return yield* refuse("chain", "a certificate is not valid now")
      }
      const verified = yield* Effect.tryPromise({
        try: () => compactVerify(jws, certificates[0].native.publicKey, { algorithms: ["ES256"] }),
        catch: (error) =>
          refuse(error instanceof errors.JWSInvalid ? "malformed" : "signature", "the signature does not verify")
      })
      return new TextDecoder().decode(verified.payload)
    })
  })

const chainOf = (key: string): Chain => {
  const [leaf = "", intermediate = "", root = ""] = key.split(" ")
  return [leaf, intermediate, root]
}

/** SHA-256 of a DER certificate, uppercase hex with colons, as certificate tools print it. */
export const fingerprint = (der: Buffer): string =>
  Option.getOrElse(
    Option.fromNullable(createHash("sha256").update(der).digest("hex").toUpperCase().match(/../g)),
    (): Array<string> => []
  ).join(":")
