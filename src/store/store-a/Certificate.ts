import "reflect-metadata"
import { X509Certificate } from "node:crypto"
import * as x509 from "@peculiar/x509"
import { Duration, Option } from "effect"

/** How far clocks may differ, in milliseconds. */
export const skew = Duration.toMillis("60 seconds")

/** A certificate as two libraries read it: one verifies, the other knows extensions. Times are in milliseconds. */
export interface Certificate {
  readonly native: X509Certificate
  readonly parsed: x509.X509Certificate
  readonly since: number
  readonly until: number
}

export const parseCertificate: (der: Uint8Array) => Option.Option<Certificate> = Option.liftThrowable((der) => {
  const parsed = new x509.X509Certificate(Buffer.from(der))
  const [since, until] = [parsed.notBefore.getTime(), parsed.notAfter.getTime()]
  return { native: new X509Certificate(der), parsed, since, until }
})

export const isIssuedBy = (child: Certificate, issuer: Certificate): boolean =>
  child.native.checkIssued(issuer.native) && child.native.verify(issuer.native.publicKey)

export const isValidAt = ({ since, until }: Certificate, now: number): boolean =>
  since - skew <= now && now <= until + skew

/** A certificate that holds, whom it is issued by, and so on up to a pinned root. */
export type CertificateChain = readonly [leaf: Certificate, intermediate: Certificate, root: Certificate]
