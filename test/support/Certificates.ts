import "reflect-metadata"
import { webcrypto } from "node:crypto"
import * as x509 from "@peculiar/x509"
import { Effect } from "effect"

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" }
const day = 24 * 60 * 60 * 1000

export interface Certificate {
  readonly key: string
  readonly cert: string
}

const pemOf = async (key: webcrypto.CryptoKey) =>
  x509.PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY")

/** A root of its own, and server certificates under it: what a TLS client can be made to trust or not. */
export const authority = Effect.promise(async () => {
  x509.cryptoProvider.set(webcrypto)
  const rootKeys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"])
  const now = Date.now()
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: "01",
    name: "CN=Root of the tests",
    notBefore: new Date(now - 30 * day),
    notAfter: new Date(now + 30 * day),
    signingAlgorithm: algorithm,
    keys: rootKeys,
    extensions: [new x509.BasicConstraintsExtension(true, 1, true)]
  })
  const issue = (name: string, days: { readonly from: number; readonly to: number }) =>
    Effect.promise(async (): Promise<Certificate> => {
      const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"])
      const certificate = await x509.X509CertificateGenerator.create({
        serialNumber: "02",
        subject: `CN=${name}`,
        issuer: root.subject,
        notBefore: new Date(now + days.from * day),
        notAfter: new Date(now + days.to * day),
        signingAlgorithm: algorithm,
        publicKey: keys.publicKey,
        signingKey: rootKeys.privateKey,
        extensions: [new x509.SubjectAlternativeNameExtension([{ type: "dns", value: name }])]
      })
      return { key: await pemOf(keys.privateKey), cert: certificate.toString("pem") }
    })
  const selfSigned = (name: string) =>
    Effect.promise(async (): Promise<Certificate> => {
      const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"])
      const certificate = await x509.X509CertificateGenerator.createSelfSigned({
        serialNumber: "03",
        name: `CN=${name}`,
        notBefore: new Date(now - day),
        notAfter: new Date(now + day),
        signingAlgorithm: algorithm,
        keys,
        extensions: [new x509.SubjectAlternativeNameExtension([{ type: "dns", value: name }])]
      })
      return { key: await pemOf(keys.privateKey), cert: certificate.toString("pem") }
    })
  return { root: root.toString("pem"), issue, selfSigned }
})
