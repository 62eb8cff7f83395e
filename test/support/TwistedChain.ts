import "reflect-metadata"
import { createPrivateKey, type KeyObject, sign, webcrypto } from "node:crypto"
import * as x509 from "@peculiar/x509"

x509.cryptoProvider.set(webcrypto)

const day = 86_400_000
export const leafMarker = "1.2.840.113635.100.6.11.1"
export const intermediateMarker = "1.2.840.113635.100.6.2.1"
const { cRLSign, digitalSignature, keyCertSign } = x509.KeyUsageFlags

type Curve = "P-256" | "P-384" | "P-521"

/** One certificate, as an authority may make it. `days` are from now. */
export interface CertificateShape {
  readonly subject: string
  readonly issuer: string
  readonly curve: Curve
  readonly isRsa: boolean
  readonly days: readonly [from: number, to: number]
  readonly isAuthority: boolean | null
  readonly pathLength: number | undefined
  readonly usages: number | null
  readonly markers: ReadonlyArray<string>
  /** Signed by a key that is nobody's. */
  readonly isForged: boolean
}

export type Level = "root" | "intermediate" | "leaf"
export type Shapes = { readonly [Name in Level]: CertificateShape }
export type Twist = { readonly [Name in Level]?: Partial<CertificateShape> }

const names = { root: "CN=Root", intermediate: "CN=Intermediate", leaf: "CN=Leaf" }
const plain = { curve: "P-384", isRsa: false, days: [-30, 300], isForged: false, pathLength: undefined } as const

const genuine: Shapes = {
  root: {
    ...{ ...plain, subject: names.root, issuer: names.root, isAuthority: true },
    ...{ usages: keyCertSign | cRLSign, markers: [] }
  },
  intermediate: {
    ...{ ...plain, subject: names.intermediate, issuer: names.root, isAuthority: true, pathLength: 0 },
    ...{ usages: keyCertSign | cRLSign, markers: [intermediateMarker] }
  },
  leaf: {
    ...{ ...plain, subject: names.leaf, issuer: names.intermediate, isAuthority: false, curve: "P-256" },
    ...{ usages: digitalSignature, markers: [leafMarker] }
  }
}

const ecdsa = (namedCurve: Curve) => ({ name: "ECDSA", namedCurve, hash: "SHA-256" }) as const
const rsa = {
  name: "RSASSA-PKCS1-v1_5",
  hash: "SHA-256",
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1])
}

const algorithmOf = ({ curve, isRsa }: CertificateShape) => (isRsa ? rsa : ecdsa(curve))

const keysOf = (shape: CertificateShape) =>
  webcrypto.subtle.generateKey(algorithmOf(shape), true, ["sign", "verify"]) as Promise<webcrypto.CryptoKeyPair>

/** A chain with the key of its leaf. */
export interface TwistedChain {
  readonly root: Buffer
  readonly x5c: readonly [leaf: string, intermediate: string, root: string]
  readonly key: KeyObject
}

export const makeChain = async (twist: Twist = {}): Promise<TwistedChain> => {
  const shapes: Shapes = {
    root: { ...genuine.root, ...twist.root },
    intermediate: { ...genuine.intermediate, ...twist.intermediate },
    leaf: { ...genuine.leaf, ...twist.leaf }
  }
  const keys = {
    root: await keysOf(shapes.root),
    intermediate: await keysOf(shapes.intermediate),
    leaf: await keysOf(shapes.leaf)
  }
  const now = Math.floor(Date.now() / 1000) * 1000
  const certify = async (level: Level, above: Level, serialNumber: string) => {
    const shape = shapes[level]
    const signer = shape.isForged ? await keysOf(shapes[above]) : keys[above]
    const constraints =
      shape.isAuthority === null ? [] : [new x509.BasicConstraintsExtension(shape.isAuthority, shape.pathLength, true)]
    const certificate = await x509.X509CertificateGenerator.create({
      ...{ serialNumber, subject: shape.subject, issuer: shape.issuer },
      notBefore: new Date(now + shape.days[0] * day),
      notAfter: new Date(now + shape.days[1] * day),
      signingAlgorithm: algorithmOf(shapes[above]),
      publicKey: keys[level].publicKey,
      signingKey: signer.privateKey,
      extensions: [
        ...constraints,
        ...(shape.usages === null ? [] : [new x509.KeyUsagesExtension(shape.usages, true)]),
        ...shape.markers.map((oid) => new x509.Extension(oid, false, new Uint8Array([5, 0])))
      ]
    })
    return Buffer.from(certificate.rawData)
  }
  const root = await certify("root", "root", "01")
  const intermediate = await certify("intermediate", "root", "02")
  const leaf = await certify("leaf", "intermediate", "03")
  const exported = await webcrypto.subtle.exportKey("pkcs8", keys.leaf.privateKey)
  return {
    root,
    x5c: [leaf.toString("base64"), intermediate.toString("base64"), root.toString("base64")],
    key: createPrivateKey({ key: Buffer.from(exported), format: "der", type: "pkcs8" })
  }
}

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")

/** A compact JWS of any header over any payload, the signature as `how` says. */
export const token = (
  chain: TwistedChain,
  payload: unknown,
  header: object = {},
  how: { readonly hash?: string; readonly form?: "ieee-p1363" | "der" } = {}
): string => {
  const text = `${encoded({ alg: "ES256", x5c: chain.x5c, ...header })}.${encoded(payload)}`
  const { form = "ieee-p1363", hash = "sha256" } = how
  return `${text}.${sign(hash, Buffer.from(text), { key: chain.key, dsaEncoding: form }).toString("base64url")}`
}
