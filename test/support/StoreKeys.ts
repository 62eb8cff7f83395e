import { generateKeyPairSync } from "node:crypto"

const pem = { type: "pkcs8", format: "pem" } as const
const spki = { type: "spki", format: "pem" } as const

/** A fresh key as store A hands it out: P-256, PKCS#8 PEM. */
export const p256Key = (): string =>
  generateKeyPairSync("ec", { namedCurve: "P-256", privateKeyEncoding: pem, publicKeyEncoding: spki }).privateKey

/** A key as it stands in a service-account file of store B: RSA, PKCS#8 PEM. */
export const rsaKey = (bits = 2048): string =>
  generateKeyPairSync("rsa", { modulusLength: bits, privateKeyEncoding: pem, publicKeyEncoding: spki }).privateKey

export const storeTokenUri = "https://oauth2.googleapis.com/token"

/** The text of a service-account file. */
export const serviceAccountFile = (privateKey: string, more: object = {}): string =>
  JSON.stringify({
    type: "service_account",
    project_id: "notes",
    private_key_id: "f00d",
    private_key: privateKey,
    client_email: "gatehouse@notes.iam.gserviceaccount.com",
    token_uri: storeTokenUri,
    ...more
  })
