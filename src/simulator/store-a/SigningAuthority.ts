import "reflect-metadata"
import { webcrypto } from "node:crypto"
import * as x509 from "@peculiar/x509"
import { Effect } from "effect"
import { CompactSign } from "jose"

x509.cryptoProvider.set(webcrypto)

const leafMarker = "1.2.840.113635.100.6.11.1"
const intermediateMarker = "1.2.840.113635.100.6.2.1"
const asn1Null = new Uint8Array([5, 0])
const year = 365 * 86_400_000

/** One that issued a certificate of the chain, with the key that it signs by. */
export interface Issuer {
  readonly certificate: x509.X509Certificate
  readonly key: webcrypto.CryptoKey
}

/** Signs as store A does: a chain of three certificates and compact JWS with `x5c`. */
export interface SigningAuthority {
  readonly rootPem: string
  readonly chain: readonly [leaf: string, intermediate: string, root: string]
  /** Who answers for the intermediate and for the leaf. */
  readonly issuers: readonly [root: Issuer, intermediate: Issuer]
  readonly serials: { readonly leaf: string; readonly intermediate: string }
  readonly sign: (payload: unknown) => Effect.Effect<string>
}

/** What tests twist to get chains that must be refused. */
export interface AuthorityOptions {
  readonly notBefore?: Date
  readonly notAfter?: Date
  readonly leafMarker?: boolean
  readonly intermediateMarker?: boolean
  readonly intermediateIsAuthority?: boolean
  readonly intermediateMaySignCertificates?: boolean
  readonly rootPathLength?: number
  readonly algorithm?: "ES256" | "ES384"
  /** The responder that leaf and intermediate name; without one they name none. */
  readonly ocspUrl?: string
}

const curve = (namedCurve: "P-256" | "P-384") => ({ name: "ECDSA", namedCurve, hash: "SHA-256" }) as const

const keysOn = (namedCurve: "P-256" | "P-384") =>
  webcrypto.subtle.generateKey(curve(namedCurve), true, ["sign", "verify"])

const marker = (oid: string, present: boolean) => (present ? [new x509.Extension(oid, false, asn1Null)] : [])

const responder = ({ ocspUrl }: AuthorityOptions) =>
  ocspUrl === undefined ? [] : [new x509.AuthorityInfoAccessExtension({ ocsp: [ocspUrl] })]

/** A certificate authority of one's own with a root, an intermediate and a signing leaf. */
export const makeAuthority = (options: AuthorityOptions = {}): Effect.Effect<SigningAuthority> =>
  Effect.promise(async () => {
    const now = Date.now()
    const validity = {
      notBefore: options.notBefore ?? new Date(now - 86_400_000),
      notAfter: options.notAfter ?? new Date(now + 2 * year)
    }
    const always = { notBefore: new Date(now - year), notAfter: new Date(now + 10 * year) }
    const algorithm = options.algorithm ?? "ES256"
    const [rootKeys, intermediateKeys, leafKeys] = await Promise.all([
      keysOn("P-384"),
      keysOn("P-384"),
      keysOn(algorithm === "ES256" ? "P-256" : "P-384")
    ])
    const root = await x509.X509CertificateGenerator.createSelfSigned({
      serialNumber: "01",
      name: "CN=Simulated Root CA, OU=Certification Authority",
      ...always,
      signingAlgorithm: curve("P-384"),
      keys: rootKeys,
      extensions: [
        new x509.BasicConstraintsExtension(true, options.rootPathLength, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
        await x509.SubjectKeyIdentifierExtension.create(rootKeys.publicKey)
      ]
    })
    const intermediate = await x509.X509CertificateGenerator.create({
      serialNumber: "02",
      subject: "CN=Simulated Developer Relations",
      issuer: root.subject,
      ...validity,
      signingAlgorithm: curve("P-384"),
      publicKey: intermediateKeys.publicKey,
      signingKey: rootKeys.privateKey,
      extensions: [
        new x509.BasicConstraintsExtension(options.intermediateIsAuthority ?? true, 0, true),
        ...((options.intermediateMaySignCertificates ?? true)
          ? [new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true)]
          : []),
        await x509.AuthorityKeyIdentifierExtension.create(rootKeys.publicKey),
        await x509.SubjectKeyIdentifierExtension.create(intermediateKeys.publicKey),
        ...responder(options),
        ...marker(intermediateMarker, options.intermediateMarker ?? true)
      ]
    })
    const leaf = await x509.X509CertificateGenerator.create({
      serialNumber: "03",
      subject: "CN=Simulated Receipt Signing",
      issuer: intermediate.subject,
      ...validity,
      signingAlgorithm: curve("P-384"),
      publicKey: leafKeys.publicKey,
      signingKey: intermediateKeys.privateKey,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        await x509.AuthorityKeyIdentifierExtension.create(intermediateKeys.publicKey),
        await x509.SubjectKeyIdentifierExtension.create(leafKeys.publicKey),
        ...responder(options),
        ...marker(leafMarker, options.leafMarker ?? true)
      ]
    })
    const base64 = (certificate: x509.X509Certificate) => Buffer.from(certificate.rawData).toString("base64")
    const chain = [base64(leaf), base64(intermediate), base64(root)] as const
    return {
      rootPem: root.toString("pem"),
      chain,
      serials: { leaf: leaf.serialNumber, intermediate: intermediate.serialNumber },
      issuers: [
        { certificate: root, key: rootKeys.privateKey },
        { certificate: intermediate, key: intermediateKeys.privateKey }
      ],
      sign: (payload) =>
        Effect.promise(() =>
          new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
            .setProtectedHeader({ alg: algorithm, x5c: [...chain] })
            .sign(leafKeys.privateKey)
        )
    }
  })
