import { createHmac, randomBytes } from "node:crypto"
import { deflateSync } from "node:zlib"
import type { BinaryNode } from "baileys"
import type { Library } from "../../platform/platform-a/SilentLibrary.ts"
import { bytesOf, child, children, node, seconds, server } from "./Nodes.ts"
import { type Hello, makeNoise } from "./Noise.ts"
import { pairByCode } from "./PairingCode.ts"
import { answerQuery } from "./Queries.ts"
import { readSent } from "./SentMessages.ts"
import type { Device, Session, World } from "./World.ts"

const refs = 6

/** One client on the line. `write` sends bytes, `hangUp` closes the socket. */
export const makeSession = (
  library: Library,
  world: World,
  line: { readonly write: (bytes: Uint8Array) => void; readonly hangUp: () => void }
): Session => {
  const noise = makeNoise(library)
  const codes = Array.from({ length: refs }, () => randomBytes(16).toString("base64url"))
  let hello: Hello | undefined
  let device: Device | undefined
  let isLinked = false
  let companion: { readonly wrapped: Buffer; readonly phone: string } | undefined
  let finishing: ((bundle: Buffer) => boolean) | undefined
  let lastId = 0

  const send = (stanza: BinaryNode) => line.write(noise.seal(library.encodeBinaryNode(stanza)))
  const result = (to: BinaryNode, content?: Array<BinaryNode>) =>
    send(node("iq", { from: server, type: "result", id: to.attrs["id"] ?? "" }, content))

  const end = (code: number, reason = "conflict", type?: string) => {
    send(node("stream:error", { code: String(code) }, [node(reason, type === undefined ? {} : { type })]))
    line.hangUp()
  }

  const link = (phone: string, advSecret: Buffer) => {
    if (hello === undefined) return false
    const owner = world.person(phone)
    const number = (world.deviceOf(phone)?.number ?? 0) + 1
    const { Curve, proto } = library
    const { private: secret, public: key } = owner.creds.signedIdentityKey
    const details = proto.ADVDeviceIdentity.encode({
      rawId: 1,
      timestamp: Number(seconds()),
      keyIndex: number
    }).finish()
    const accountSignature = Curve.sign(secret, Buffer.concat([Buffer.from([6, 0]), details, hello.identity]))
    const signed = proto.ADVSignedDeviceIdentity.encode({
      details,
      accountSignatureKey: key,
      accountSignature
    }).finish()
    const hmac = createHmac("sha256", advSecret).update(signed).digest()
    const identity = proto.ADVSignedDeviceIdentityHMAC.encode({ details: signed, hmac }).finish()
    world.devices.push({
      phone,
      number,
      identity: hello.identity,
      registrationId: hello.registrationId,
      bundle: undefined,
      hasHistory: false
    })
    isLinked = true
    send(
      node("iq", { from: server, type: "set", id: `pair-${++lastId}`, xmlns: "md", t: seconds() }, [
        node("pair-success", {}, [
          node("device-identity", {}, identity),
          node("device", { jid: `${phone}:${number}${server}`, lid: `9${phone}:${number}@lid` }),
          node("platform", { name: "android" })
        ])
      ])
    )
    return true
  }

  const signIn = (phone: string, number: number) => {
    const known = world.devices.find((candidate) => candidate.phone === phone && candidate.number === number)
    const scripted = world.failures.findIndex((failure) => failure.phone === undefined || failure.phone === phone)
    const [failure] = scripted === -1 ? [] : world.failures.splice(scripted, 1)
    if (failure !== undefined || known === undefined) {
      send(node("failure", { reason: failure?.reason ?? "401" }))
      return line.hangUp()
    }
    for (const other of world.sessions) {
      if (other !== session && other.account() === phone) other.end(440, "conflict", "replaced")
    }
    device = known
    send(node("success", { t: seconds(), lid: `9${phone}:${number}@lid` }))
  }

  /** A phone that has just linked a client sends it what was said before; here, nothing was. */
  const sendHistory = async (to: Device) => {
    const { bundle } = to
    if (to.hasHistory || bundle === undefined) return
    to.hasHistory = true
    const { proto } = library
    const syncType = proto.HistorySync.HistorySyncType.INITIAL_BOOTSTRAP
    const history = proto.HistorySync.encode({ syncType }).finish()
    const owner = world.person(to.phone)
    const { ciphertext, type } = await owner.encrypt(world.aliasOf(to), bundle, {
      protocolMessage: {
        type: proto.Message.ProtocolMessage.Type.HISTORY_SYNC_NOTIFICATION,
        historySyncNotification: { syncType, chunkOrder: 1, initialHistBootstrapInlinePayload: deflateSync(history) }
      }
    })
    const attrs = { id: world.nextId(), from: owner.address, type: "text", category: "peer", t: seconds() }
    send(node("message", attrs, [node("enc", { v: "2", type }, ciphertext)]))
  }

  /** The client is ready: what waited comes first, then the word that this was all. */
  const catchUp = async () => {
    const phone = device?.phone ?? ""
    const waited = world.waiting.get(phone) ?? []
    const unconfirmed = [...(world.unconfirmed.get(phone) ?? [])]
    world.waiting.delete(phone)
    for (const message of unconfirmed) send({ ...message, attrs: { ...message.attrs, offline: "1" } })
    for (const part of waited) await part(session)
    send(node("ib", {}, [node("offline", { count: String(unconfirmed.length + waited.length) })]))
    if (device !== undefined) await sendHistory(device)
  }

  const greeted = (said: Hello) => {
    hello = said
    if (said.device !== undefined) return signIn(said.device.phone, said.device.number)
    send(
      node("iq", { from: server, type: "set", id: `pair-${++lastId}`, xmlns: "md" }, [
        node(
          "pair-device",
          {},
          codes.map((code) => node("ref", {}, Buffer.from(code)))
        )
      ])
    )
  }

  const iq = async (stanza: BinaryNode) => {
    if (child(stanza, "pair-device-sign") !== undefined) return end(515)
    if (stanza.attrs["type"] === "result") return
    const registration = child(stanza, "link_code_companion_reg")
    if (registration?.attrs["stage"] === "companion_hello") {
      const phone = (registration.attrs["jid"] ?? "").replace(/@.*$/, "")
      companion = { phone, wrapped: bytesOf(child(registration, "link_code_pairing_wrapped_companion_ephemeral_pub")) }
      return result(stanza, [
        node("link_code_companion_reg", {}, [node("link_code_pairing_ref", {}, Buffer.from("ref"))])
      ])
    }
    if (registration?.attrs["stage"] === "companion_finish") {
      result(stanza)
      finishing?.(bytesOf(child(registration, "link_code_pairing_wrapped_key_bundle")))
      return
    }
    if (child(stanza, "remove-companion-device") !== undefined && device !== undefined) {
      world.devices.splice(world.devices.indexOf(device), 1)
      return result(stanza)
    }
    result(stanza, await answerQuery(world, stanza, device))
    if (child(stanza, "active") !== undefined) await catchUp()
  }

  const received = async (stanza: BinaryNode) => {
    if (stanza.tag === "iq") return iq(stanza)
    if (stanza.tag === "message" && device !== undefined) {
      const error = world.refusals.shift()
      if (error === undefined) await readSent(world, stanza, device)
      return send(
        node("ack", {
          class: "message",
          id: stanza.attrs["id"] ?? "",
          from: stanza.attrs["to"] ?? "",
          t: seconds(),
          ...(error === undefined ? {} : { error })
        })
      )
    }
    if (stanza.tag === "receipt") {
      const { id = "", type } = stanza.attrs
      if (type !== "retry" && device !== undefined) world.confirm(device.phone, id)
      return send(node("ack", { class: "receipt", id }))
    }
    if (stanza.tag === "ack" && stanza.attrs["class"] === "message" && device !== undefined) {
      return world.confirm(device.phone, stanza.attrs["id"] ?? "")
    }
    if (stanza.tag === "chatstate") {
      const [state] = children(stanza)
      world.typing.push({ account: device?.phone ?? "", chat: stanza.attrs["to"] ?? "", state: state?.tag ?? "" })
    }
  }

  const session: Session = {
    codes,
    account: () => device?.phone,
    device: () => device,
    send,
    end,
    hangUp: line.hangUp,
    scan: (advSecret: Buffer, phone: string) => link(phone, advSecret),
    enterCode: async (code: string) => {
      if (companion === undefined || hello === undefined || isLinked) return false
      const owner = world.person(companion.phone)
      const pairing = await pairByCode(library, code, companion.wrapped, owner.creds, hello.identity)
      const { phone } = companion
      finishing = (bundle) => link(phone, pairing.secretIn(bundle))
      send(
        node("notification", { from: server, type: "link_code_companion_reg", id: `code-${++lastId}`, t: seconds() }, [
          node("link_code_companion_reg", { stage: "primary_hello" }, [
            node("link_code_pairing_wrapped_primary_ephemeral_pub", {}, pairing.wrapped),
            node("primary_identity_pub", {}, owner.creds.signedIdentityKey.public),
            node("link_code_pairing_ref", {}, Buffer.from("ref"))
          ])
        ])
      )
      return true
    },
    receive: async (bytes: Uint8Array) => {
      const { frames, hello: said, reply } = noise.receive(bytes)
      if (reply !== undefined) line.write(reply)
      if (said !== undefined) greeted(said)
      for (const frame of frames) await received(await library.decodeBinaryNode(frame))
    }
  }
  return session
}
