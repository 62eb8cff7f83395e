import "reflect-metadata"
import { webcrypto } from "node:crypto"
import { id_kp_OCSPSigning } from "@peculiar/asn1-ocsp"
import * as x509 from "@peculiar/x509"
import { Effect, Option } from "effect"
import { type Answering, respond, type Status } from "../../src/simulator/store-a/OcspResponder.ts"
import { type Issuer, makeAuthority, type SigningAuthority } from "../../src/simulator/store-a/SigningAuthority.ts"
import { parseCertificate } from "../../src/store/store-a/Certificate.ts"
import { type Pair, questionAbout } from "../../src/store/store-a/OcspQuestion.ts"

export const hour = 3_600_000

const curve = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const

/** A responder that answers in the issuer's place, by a certificate for that purpose. */
export const makeDelegate = (
  issuer: Issuer,
  options: {
    readonly purpose?: string
    readonly notAfter?: Date
    readonly signedBy?: Issuer
    readonly serialNumber?: string
  } = {}
): Effect.Effect<Issuer> =>
  Effect.promise(async () => {
    const keys = await webcrypto.subtle.generateKey(curve, true, ["sign", "verify"])
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: options.serialNumber ?? "1001",
      subject: "CN=Simulated OCSP Responder",
      issuer: issuer.certificate.subject,
      notBefore: new Date(Date.now() - 48 * hour),
      notAfter: options.notAfter ?? new Date(Date.now() + 48 * hour),
      signingAlgorithm: { ...curve, namedCurve: "P-384" },
      publicKey: keys.publicKey,
      signingKey: (options.signedBy ?? issuer).key,
      extensions: [new x509.ExtendedKeyUsageExtension([options.purpose ?? id_kp_OCSPSigning])]
    })
    return { certificate, key: keys.privateKey }
  })

/** The leaf of an authority with its issuer, what is asked about it, and answers at a moment. */
export const makeSide = Effect.fn(function* (authority: SigningAuthority) {
  const certificates = authority.chain.map((base64) => parseCertificate(Buffer.from(base64, "base64")))
  const [leaf, intermediate, root] = Option.getOrThrow(Option.all(certificates))
  if (leaf === undefined || intermediate === undefined || root === undefined)
    return yield* Effect.dieMessage("no chain")
  const pair: Pair = { certificate: leaf, issuer: intermediate }
  const question = Option.getOrThrow(questionAbout(pair))
  const answer = (now: number, status: Status, how: Partial<Answering> = {}) =>
    respond(authority.issuers, question, {
      statusOf: () => status,
      thisUpdate: now - hour,
      nextUpdate: now + hour,
      ...how
    })
  return { pair, chain: [leaf, intermediate, root] as const, question, answer, issuer: authority.issuers[1] }
})

export const someSide = Effect.flatMap(makeAuthority(), makeSide)
