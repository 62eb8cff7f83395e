import "reflect-metadata"
import { createHash } from "node:crypto"
import { CertID, OCSPRequest, Request, type ResponderID, TBSRequest } from "@peculiar/asn1-ocsp"
import { AsnConvert, AsnProp, AsnPropTypes, OctetString } from "@peculiar/asn1-schema"
import * as x509 from "@peculiar/x509"
import { Array, Option, Record } from "effect"
import type { Certificate } from "./Certificate.ts"

/** A certificate and the one that it is issued by. */
export interface Pair {
  readonly certificate: Certificate
  readonly issuer: Certificate
}

const sha1 = "1.3.14.3.2.26"
const digests: { readonly [oid: string]: string } = {
  [sha1]: "sha1",
  "2.16.840.1.101.3.4.2.1": "sha256",
  "2.16.840.1.101.3.4.2.2": "sha384",
  "2.16.840.1.101.3.4.2.3": "sha512"
}

class PublicKeyInfo {
  algorithm = new ArrayBuffer(0)
  subjectPublicKey = new ArrayBuffer(0)
}
AsnProp({ type: AsnPropTypes.Any })(PublicKeyInfo.prototype, "algorithm")
AsnProp({ type: AsnPropTypes.BitString })(PublicKeyInfo.prototype, "subjectPublicKey")

const digest = (algorithm: string, bytes: ArrayBuffer) => createHash(algorithm).update(Buffer.from(bytes)).digest()

const nameOf = ({ parsed }: Certificate) => parsed.subjectName.toArrayBuffer()
const keyOf = ({ parsed }: Certificate) => AsnConvert.parse(parsed.publicKey.rawData, PublicKeyInfo).subjectPublicKey

/** A positive number in DER: the parser takes the zero away that a high first bit needs. */
const serialOf = ({ parsed }: Certificate): ArrayBuffer => {
  const bytes = Buffer.from(parsed.serialNumber, "hex")
  return Uint8Array.from((bytes[0] ?? 0) < 0x80 ? bytes : [0, ...bytes]).buffer
}

/** The responder that the certificate names (RFC 5280, 4.2.2.1), if it is one that speaks HTTP. */
export const responderOf: (certificate: Certificate) => Option.Option<string> = ({ parsed }) =>
  Option.liftThrowable(() => parsed.getExtension(x509.AuthorityInfoAccessExtension))().pipe(
    Option.flatMap(Option.fromNullable),
    Option.flatMap(({ ocsp }) =>
      Array.findFirst(
        ocsp.map(({ value }) => value),
        (url) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
      )
    )
  )

/** The DER of an `OCSPRequest` about one certificate (RFC 6960, 4.1), without a nonce, so that responders may cache. */
export const questionAbout: (pair: Pair) => Option.Option<Uint8Array> = Option.liftThrowable(
  ({ certificate, issuer }) => {
    const reqCert = new CertID({
      issuerNameHash: new OctetString(digest("sha1", nameOf(issuer))),
      issuerKeyHash: new OctetString(digest("sha1", keyOf(issuer))),
      serialNumber: serialOf(certificate)
    })
    Object.assign(reqCert.hashAlgorithm, { algorithm: sha1, parameters: null })
    const requestList = [new Request({ reqCert })]
    return new Uint8Array(AsnConvert.serialize(new OCSPRequest({ tbsRequest: new TBSRequest({ requestList }) })))
  }
)

const numberOf = (hex: string) => BigInt(`0x0${hex}`)

/** Whether an answer is about the certificate that was asked about, by whatever hash it names it. */
export const isAbout = (certID: CertID, { certificate, issuer }: Pair): boolean =>
  Option.exists(
    Record.get(digests, certID.hashAlgorithm.algorithm),
    (algorithm) =>
      digest(algorithm, nameOf(issuer)).equals(Buffer.from(certID.issuerNameHash.buffer)) &&
      digest(algorithm, keyOf(issuer)).equals(Buffer.from(certID.issuerKeyHash.buffer)) &&
      numberOf(Buffer.from(certID.serialNumber).toString("hex")) === numberOf(certificate.parsed.serialNumber)
  )

/** Whether an answer names the certificate as that of its signer. */
export const isNamed = (certificate: Certificate, { byKey, byName }: ResponderID): boolean =>
  byKey === undefined
    ? byName !== undefined && Buffer.from(AsnConvert.serialize(byName)).equals(Buffer.from(nameOf(certificate)))
    : digest("sha1", keyOf(certificate)).equals(Buffer.from(byKey.buffer))
