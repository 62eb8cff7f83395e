import "reflect-metadata"
import { verify } from "node:crypto"
import {
  BasicOCSPResponse,
  id_kp_OCSPSigning,
  id_pkix_ocsp_basic,
  OCSPResponse,
  OCSPResponseStatus,
  type SingleResponse
} from "@peculiar/asn1-ocsp"
import { AsnConvert } from "@peculiar/asn1-schema"
import * as x509 from "@peculiar/x509"
import { Array, Data, Duration, Either, Option, Record } from "effect"
import { type Certificate, isIssuedBy, isValidAt, parseCertificate, skew } from "./Certificate.ts"
import { isAbout, isNamed, type Pair } from "./OcspQuestion.ts"

/** What is known about a certificate. `until` is when to ask again, in milliseconds since 1970. */
export type Verdict = Data.TaggedEnum<{
  Good: { readonly until: number }
  Revoked: { readonly until: number }
  /** No answer, or none that may be believed. `detail` is for the log. */
  Unclear: { readonly detail: string }
  /** The certificate names nobody who could be asked. */
  Unasked: {}
}>
export const Verdict = Data.taggedEnum<Verdict>()

const longest = Duration.toMillis("12 hours")
const withoutNextUpdate = Duration.toMillis("5 minutes")

/** ECDSA and RSA (PKCS #1); SHA-1 proves nothing here. */
const signatures: { readonly [oid: string]: string } = {
  "1.2.840.10045.4.3.2": "sha256",
  "1.2.840.10045.4.3.3": "sha384",
  "1.2.840.10045.4.3.4": "sha512",
  "1.2.840.113549.1.1.11": "sha256",
  "1.2.840.113549.1.1.12": "sha384",
  "1.2.840.113549.1.1.13": "sha512"
}

/** Issued by the issuer itself, for this purpose alone (RFC 6960, 4.2.2.2). */
const isDelegated = (certificate: Certificate, issuer: Certificate, now: number): boolean =>
  isIssuedBy(certificate, issuer) &&
  isValidAt(certificate, now) &&
  certificate.parsed.getExtension(x509.ExtendedKeyUsageExtension)?.usages.includes(id_kp_OCSPSigning) === true

const signerOf = ({ certs = [], tbsResponseData }: BasicOCSPResponse, { issuer }: Pair, now: number) => {
  const { responderID } = tbsResponseData
  if (isNamed(issuer, responderID)) return Option.some(issuer)
  const delegates = Array.filterMap(certs, (one) => parseCertificate(new Uint8Array(AsnConvert.serialize(one))))
  return Array.findFirst(delegates, (one) => isNamed(one, responderID) && isDelegated(one, issuer, now))
}

const isSignedBy = (basic: BasicOCSPResponse, signer: Certificate): boolean =>
  Option.exists(Record.get(signatures, basic.signatureAlgorithm.algorithm), (algorithm) => {
    const signed = Buffer.from(basic.tbsResponseDataRaw ?? new ArrayBuffer(0))
    return verify(algorithm, signed, signer.native.publicKey, Buffer.from(basic.signature))
  })

const isFresh = ({ nextUpdate, thisUpdate }: SingleResponse, now: number): boolean => {
  const since = thisUpdate.getTime()
  const until = nextUpdate?.getTime() ?? since + longest
  return since <= until && since - skew <= now && now <= until + skew
}

const isPlain = (extensions: ReadonlyArray<{ readonly critical: boolean }> = []) =>
  extensions.every(({ critical }) => !critical)

const unless = (holds: boolean, detail: string): Either.Either<void, Verdict> =>
  holds ? Either.void : Either.left(Verdict.Unclear({ detail }))

const judgeParsed = (bytes: Uint8Array, pair: Pair, now: number): Either.Either<Verdict, Verdict> =>
  Either.gen(function* () {
    const { responseBytes, responseStatus } = AsnConvert.parse(bytes, OCSPResponse)
    yield* unless(
      responseStatus === OCSPResponseStatus.successful,
      `the responder answers with status ${responseStatus}`
    )
    yield* unless(responseBytes?.responseType === id_pkix_ocsp_basic, "an answer of another type")
    const basic = AsnConvert.parse(responseBytes?.response.buffer ?? new ArrayBuffer(0), BasicOCSPResponse)
    const signer = signerOf(basic, pair, now)
    yield* unless(Option.isSome(signer), "the signer may not answer for the issuer")
    yield* unless(
      Option.exists(signer, (one) => isSignedBy(basic, one)),
      "the signature does not verify"
    )
    const { responseExtensions, responses } = basic.tbsResponseData
    const about = responses.filter(({ certID }) => isAbout(certID, pair))
    yield* unless(about.length > 0, "an answer about another certificate")
    yield* unless(
      isPlain(responseExtensions) && about.every(({ singleExtensions }) => isPlain(singleExtensions)),
      "a critical extension"
    )
    const fresh = about.filter((one) => isFresh(one, now))
    yield* unless(fresh.length > 0, "an answer that is not fresh")
    const until = fresh.reduce(
      (earliest, { nextUpdate }) => Math.min(earliest, nextUpdate?.getTime() ?? now + withoutNextUpdate),
      now + longest
    )
    if (fresh.some(({ certStatus }) => certStatus.revoked !== undefined)) return Verdict.Revoked({ until })
    yield* unless(
      fresh.every(({ certStatus }) => certStatus.good !== undefined),
      "the responder does not know the certificate"
    )
    return Verdict.Good({ until })
  })

/**
 * What the bytes of an `OCSPResponse` (RFC 6960, 4.2) say about a certificate at a moment in milliseconds since 1970. Only
 * a fresh answer about this very certificate is believed, signed by its issuer or by whom the issuer made its responder.
 */
export const judge = (bytes: Uint8Array, pair: Pair, now: number): Verdict =>
  Either.merge(
    Either.flatMap(
      Either.try({
        try: () => judgeParsed(bytes, pair, now),
        catch: () => Verdict.Unclear({ detail: "the answer does not parse" })
      }),
      (judged) => judged
    )
  )
