import { createHash, KeyObject, sign, type webcrypto } from "node:crypto"
import {
  type CertID,
  CertStatus,
  id_pkix_ocsp_basic,
  KeyHash,
  OCSPRequest,
  OCSPResponse,
  OCSPResponseStatus,
  ResponderID,
  ResponseBytes,
  ResponseData,
  RevokedInfo,
  SingleResponse
} from "@peculiar/asn1-ocsp"
import { AsnConvert, AsnProp, AsnPropTypes, OctetString } from "@peculiar/asn1-schema"
import { Effect } from "effect"
import type { Issuer } from "./SigningAuthority.ts"

export type Status = "good" | "revoked" | "unknown"

/** How an answer is made. Times are in milliseconds since 1970; the rest is what tests twist. */
export interface Answering {
  readonly statusOf: (serial: string) => Status
  readonly thisUpdate: number
  readonly nextUpdate: number | null
  /** Signs in the issuer's place; its certificate goes along. */
  readonly delegate?: Issuer
  /** Signs instead of the key that the answer names. */
  readonly forger?: webcrypto.CryptoKey
  /** What becomes of the name of the certificate asked about. */
  readonly renamed?: (id: CertID) => CertID
}

/** `BasicOCSPResponse` with its parts as DER, so that what is signed is what is sent. */
class SignedAnswer {
  data = new ArrayBuffer(0)
  algorithm = new Uint8Array([0x30, 0x0a, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2]).buffer
  signature = new ArrayBuffer(0)
  certificates: Array<ArrayBuffer> | undefined = undefined
}
AsnProp({ type: AsnPropTypes.Any })(SignedAnswer.prototype, "data")
AsnProp({ type: AsnPropTypes.Any })(SignedAnswer.prototype, "algorithm")
AsnProp({ type: AsnPropTypes.BitString })(SignedAnswer.prototype, "signature")
AsnProp({ type: AsnPropTypes.Any, repeated: "sequence", optional: true, context: 0 })(
  SignedAnswer.prototype,
  "certificates"
)

const sha1 = "1.3.14.3.2.26"

/** In whole seconds, as DER wants it here. */
const moment = (millis: number) => new Date(Math.floor(millis / 1000) * 1000)

const statusAt = (status: Status, now: number): CertStatus => {
  switch (status) {
    case "good":
      return new CertStatus({ good: null })
    case "revoked":
      return new CertStatus({ revoked: new RevokedInfo({ revocationTime: moment(now) }) })
    case "unknown":
      return new CertStatus({ unknown: null })
  }
}

const isNamed = ({ certificate }: Issuer, { hashAlgorithm, issuerNameHash }: CertID) =>
  createHash(hashAlgorithm.algorithm === sha1 ? "sha1" : "sha256")
    .update(Buffer.from(certificate.subjectName.toArrayBuffer()))
    .digest()
    .equals(Buffer.from(issuerNameHash.buffer))

const der = (value: unknown) => new Uint8Array(AsnConvert.serialize(value))

const refusal = (responseStatus: OCSPResponseStatus) => der(new OCSPResponse({ responseStatus }))

/** Answers the DER of an `OCSPRequest` about certificates of one of these issuers (RFC 6960). */
export const respond = Effect.fn("OcspResponder.respond")(function* (
  issuers: ReadonlyArray<Issuer>,
  question: Uint8Array,
  { delegate, forger, nextUpdate, renamed = (id) => id, statusOf, thisUpdate }: Answering
) {
  const asked = yield* Effect.orElseSucceed(
    Effect.try(() => AsnConvert.parse(question, OCSPRequest).tbsRequest.requestList.map(({ reqCert }) => reqCert)),
    () => []
  )
  const [first] = asked
  if (first === undefined) return refusal(OCSPResponseStatus.malformedRequest)
  const issuer = issuers.find((one) => isNamed(one, first))
  if (issuer === undefined) return refusal(OCSPResponseStatus.unauthorized)
  const signer = delegate ?? issuer
  const byKey = new KeyHash(
    new Uint8Array(yield* Effect.promise(() => signer.certificate.publicKey.getKeyIdentifier("SHA-1")))
  )
  const responses = asked.map((id) => {
    const certStatus = statusAt(statusOf(Buffer.from(id.serialNumber).toString("hex")), thisUpdate)
    const times = {
      thisUpdate: moment(thisUpdate),
      ...(nextUpdate === null ? {} : { nextUpdate: moment(nextUpdate) })
    }
    return new SingleResponse({ certID: renamed(id), certStatus, ...times })
  })
  const responderID = new ResponderID({ byKey })
  const answer = new SignedAnswer()
  answer.data = AsnConvert.serialize(new ResponseData({ responderID, producedAt: moment(thisUpdate), responses }))
  const signature = sign("sha256", new Uint8Array(answer.data), KeyObject.from(forger ?? signer.key))
  answer.signature = Uint8Array.from(signature).buffer
  if (delegate !== undefined) answer.certificates = [delegate.certificate.rawData]
  const responseBytes = new ResponseBytes({ responseType: id_pkix_ocsp_basic, response: new OctetString(der(answer)) })
  return der(new OCSPResponse({ responseStatus: OCSPResponseStatus.successful, responseBytes }))
})
