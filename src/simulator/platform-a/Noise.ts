import { createCipheriv, createDecipheriv, createHash, hkdfSync } from "node:crypto"
import type { Library } from "../../platform/platform-a/SilentLibrary.ts"

const name = Buffer.from("Noise_XX_25519_AESGCM_SHA256\0\0\0\0")
const header = Buffer.from([87, 65, 6, 3])
const none = Buffer.alloc(0)

/** What the client says about itself once the handshake is done. */
export interface Hello {
  /** None while it has never been linked. */
  readonly device: { readonly phone: string; readonly number: number } | undefined
  readonly registrationId: number
  readonly identity: Uint8Array
}

const nonce = (counter: number) => {
  const bytes = Buffer.alloc(12)
  bytes.writeUInt32BE(counter, 8)
  return bytes
}

const sealing = (key: Buffer, counter: number, data: Uint8Array, aad: Uint8Array) => {
  const cipher = createCipheriv("aes-256-gcm", key, nonce(counter)).setAAD(aad)
  return Buffer.concat([cipher.update(data), cipher.final(), cipher.getAuthTag()])
}

const opening = (key: Buffer, counter: number, data: Uint8Array, aad: Uint8Array) => {
  const decipher = createDecipheriv("aes-256-gcm", key, nonce(counter)).setAAD(aad)
  decipher.setAuthTag(data.subarray(-16))
  return Buffer.concat([decipher.update(data.subarray(0, -16)), decipher.final()])
}

const framed = (data: Uint8Array) => {
  const length = Buffer.alloc(3)
  length.writeUIntBE(data.length, 0, 3)
  return Buffer.concat([length, data])
}

/**
 * The server's side of the handshake and of the encrypted frames after it. `receive` takes bytes as they come and answers
 * with what is complete; `reply` is to be sent at once.
 */
export const makeNoise = ({ Curve, proto }: Library) => {
  const ephemeral = Curve.generateKeyPair()
  const fixed = Curve.generateKeyPair()
  const issuer = Curve.generateKeyPair()
  let hash: Buffer = name
  let salt: Buffer = name
  let key: Buffer = name
  let counter = 0
  let bytes: Buffer = none
  let hasIntro = false
  let step: "hello" | "finish" | "open" = "hello"
  let transport: { readonly read: Buffer; readonly write: Buffer } | undefined
  let reads = 0
  let writes = 0

  const authenticate = (data: Uint8Array) => {
    hash = createHash("sha256").update(hash).update(data).digest()
  }
  const expand = (data: Uint8Array) => {
    const out = Buffer.from(hkdfSync("sha256", data, salt, "", 64))
    return [out.subarray(0, 32), out.subarray(32)] as const
  }
  const mix = (data: Uint8Array) => {
    const [nextSalt, nextKey] = expand(data)
    salt = nextSalt
    key = nextKey
    counter = 0
  }
  const encrypt = (data: Uint8Array) => {
    const sealed = sealing(key, counter++, data, hash)
    authenticate(sealed)
    return sealed
  }
  const decrypt = (data: Uint8Array) => {
    const opened = opening(key, counter++, data, hash)
    authenticate(data)
    return opened
  }
  authenticate(header)

  const certificate = () => {
    const details = proto.CertChain.NoiseCertificate.Details.encode({ serial: 1, issuerSerial: 0, key: issuer.public })
    const intermediate = details.finish()
    const leaf = proto.CertChain.NoiseCertificate.Details.encode({
      serial: 2,
      issuerSerial: 1,
      key: fixed.public
    }).finish()
    return proto.CertChain.encode({
      intermediate: { details: intermediate, signature: Curve.sign(issuer.private, intermediate) },
      leaf: { details: leaf, signature: Curve.sign(issuer.private, leaf) }
    }).finish()
  }

  const hello = (frame: Uint8Array) => {
    const theirs = proto.HandshakeMessage.decode(frame).clientHello?.ephemeral ?? none
    authenticate(theirs)
    authenticate(ephemeral.public)
    mix(Curve.sharedKey(ephemeral.private, theirs))
    const sealedKey = encrypt(fixed.public)
    mix(Curve.sharedKey(fixed.private, theirs))
    const payload = encrypt(certificate())
    step = "finish"
    return framed(
      proto.HandshakeMessage.encode({
        serverHello: { ephemeral: ephemeral.public, static: sealedKey, payload }
      }).finish()
    )
  }

  const finish = (frame: Uint8Array): Hello => {
    const { clientFinish } = proto.HandshakeMessage.decode(frame)
    const theirs = decrypt(clientFinish?.static ?? none)
    mix(Curve.sharedKey(ephemeral.private, theirs))
    const payload = proto.ClientPayload.decode(decrypt(clientFinish?.payload ?? none))
    const [read, write] = expand(none)
    transport = { read, write }
    step = "open"
    const pairing = payload.devicePairingData
    return {
      device: pairing ? undefined : { phone: String(payload.username), number: payload.device ?? 0 },
      registrationId: Buffer.from(pairing?.eRegid ?? Buffer.alloc(4)).readUInt32BE(0),
      identity: pairing?.eIdent ?? none
    }
  }

  const receive = (data: Uint8Array) => {
    bytes = Buffer.concat([bytes, data])
    if (!hasIntro) {
      const routing = bytes.subarray(0, 2).toString() === "ED" ? 7 + bytes.readUIntBE(4, 3) : 0
      if (bytes.length < routing + header.length) return { reply: undefined, hello: undefined, frames: [] }
      bytes = bytes.subarray(routing + header.length)
      hasIntro = true
    }
    const frames: Array<Buffer> = []
    let reply: Buffer | undefined
    let said: Hello | undefined
    while (bytes.length >= 3 && bytes.length >= 3 + bytes.readUIntBE(0, 3)) {
      const size = bytes.readUIntBE(0, 3)
      const frame = bytes.subarray(3, 3 + size)
      bytes = bytes.subarray(3 + size)
      if (step === "hello") reply = hello(frame)
      else if (step === "finish") said = finish(frame)
      else frames.push(opening(transport?.read ?? none, reads++, frame, none))
    }
    return { reply, hello: said, frames }
  }

  const seal = (data: Uint8Array) => framed(sealing(transport?.write ?? none, writes++, data, none))

  return { receive, seal } as const
}
