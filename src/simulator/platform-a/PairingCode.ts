import { createDecipheriv, hkdfSync, randomBytes } from "node:crypto"
import type { AuthenticationCreds } from "baileys"
import type { Library } from "../../platform/platform-a/SilentLibrary.ts"

const none = Buffer.alloc(0)
const derived = (ikm: Uint8Array, salt: Uint8Array, info: string) =>
  Buffer.from(hkdfSync("sha256", ikm, salt, info, 32))

/**
 * The phone's side of linking by a code: both know the code, so each can send the other a key that nobody else can read.
 * `secretIn` opens what the client answers with, and makes the secret that the link is then proved by.
 */
export const pairByCode = async (
  library: Library,
  code: string,
  wrapped: Buffer,
  owner: AuthenticationCreds,
  companionIdentity: Uint8Array
) => {
  const { aesDecryptCTR, aesEncryptCTR, Curve, derivePairingCodeKey } = library
  const theirKey = await derivePairingCodeKey(code, wrapped.subarray(0, 32))
  const theirs = aesDecryptCTR(wrapped.subarray(48, 80), theirKey, wrapped.subarray(32, 48))
  const ephemeral = Curve.generateKeyPair()
  const salt = randomBytes(32)
  const iv = randomBytes(16)
  const ourKey = await derivePairingCodeKey(code, salt)
  const shared = Curve.sharedKey(ephemeral.private, theirs)
  return {
    wrapped: Buffer.concat([salt, iv, aesEncryptCTR(ephemeral.public, ourKey, iv)]),
    secretIn: (bundle: Buffer) => {
      const key = derived(shared, bundle.subarray(0, 32), "link_code_pairing_key_bundle_encryption_key")
      const sealed = bundle.subarray(44)
      const decipher = createDecipheriv("aes-256-gcm", key, bundle.subarray(32, 44)).setAAD(none)
      decipher.setAuthTag(sealed.subarray(-16))
      const opened = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()])
      const identity = Curve.sharedKey(owner.signedIdentityKey.private, companionIdentity)
      return derived(Buffer.concat([shared, identity, opened.subarray(64)]), none, "adv_secret")
    }
  }
}
