import type { BinaryNode } from "baileys"
import { bytesOf, child, children, node } from "./Nodes.ts"
import type { Bundle } from "./Person.ts"
import type { Device, World } from "./World.ts"

const number = (value: number, size: number) => {
  const bytes = Buffer.alloc(size)
  bytes.writeUIntBE(value, 0, size)
  return bytes
}

const phoneIn = (text: string) => text.replace(/\D/g, "")

/** Whom a query is about: an address, or the digits of a number in the element of the contact protocol. */
const askedIn = (user: BinaryNode) =>
  user.attrs["jid"] ??
  `${phoneIn(bytesOf(child(user, "contact")).toString() || String(child(user, "contact")?.content ?? ""))}@s.whatsapp.net`

const users = (world: World, stanza: BinaryNode) => {
  const usync = child(stanza, "usync")
  return children(child(usync, "list")).map((user) => {
    const address = askedIn(user)
    const person = world.personAt(address)
    if (person === undefined) return node("user", { jid: address }, [node("contact", { type: "out" })])
    const linked = world.devices.filter(({ phone }) => phone === person.phone)
    const devices = [
      node("device", { id: "0" }),
      ...linked.map((device) => node("device", { id: String(device.number), "key-index": String(device.number) }))
    ]
    const isAlias = address.endsWith("@lid")
    return node("user", { jid: isAlias ? person.alias : person.address }, [
      node("contact", { type: "in" }),
      node("devices", {}, [node("device-list", {}, devices)]),
      ...(isAlias ? [] : [node("lid", { val: person.alias })])
    ])
  })
}

const bundleNode = (address: string, bundle: Bundle) =>
  node("user", { jid: address }, [
    node("registration", {}, number(bundle.registrationId, 4)),
    node("type", {}, Buffer.from([5])),
    node("identity", {}, bundle.identity),
    node("skey", {}, [
      node("id", {}, number(bundle.signedPreKey.id, 3)),
      node("value", {}, bundle.signedPreKey.value),
      node("signature", {}, bundle.signedPreKey.signature)
    ]),
    ...bundle.preKeys
      .slice(0, 1)
      .map(({ id, value }) => node("key", {}, [node("id", {}, number(id, 3)), node("value", {}, value)]))
  ])

/** Keys of those who are to be written to. Only phones have them here: other linked clients of one account do not talk. */
const bundles = async (world: World, stanza: BinaryNode) => {
  const asked = children(child(stanza, "key")).map(({ attrs }) => attrs["jid"] ?? "")
  const found: Array<BinaryNode> = []
  for (const address of asked) {
    const person = world.personAt(address)
    if (person !== undefined) found.push(bundleNode(address, await person.bundle()))
  }
  return [node("list", {}, found)]
}

const published = (stanza: BinaryNode): Bundle => {
  const signed = child(stanza, "skey")
  return {
    registrationId: bytesOf(child(stanza, "registration")).readUInt32BE(0),
    identity: bytesOf(child(stanza, "identity")),
    signedPreKey: {
      id: bytesOf(child(signed, "id")).readUIntBE(0, 3),
      value: bytesOf(child(signed, "value")),
      signature: bytesOf(child(signed, "signature"))
    },
    preKeys: children(child(stanza, "list")).map((key) => ({
      id: bytesOf(child(key, "id")).readUIntBE(0, 3),
      value: bytesOf(child(key, "value"))
    }))
  }
}

const groupNode = (world: World, id: string) => {
  const group = world.groups.get(id)
  if (group === undefined) return []
  return [
    node(
      "group",
      { id: group.id, subject: group.subject, creation: "1700000000", s_t: "1700000000", addressing_mode: "pn" },
      [...group.members].map((phone) => {
        const { address, alias } = world.person(phone)
        return node("participant", { jid: address, lid: alias })
      })
    )
  ]
}

/** What the platform answers to a query of a client; most are only acknowledged. */
export const answerQuery = async (
  world: World,
  stanza: BinaryNode,
  device: Device | undefined
): Promise<Array<BinaryNode> | undefined> => {
  const { type, xmlns } = stanza.attrs
  if (xmlns === "usync") return [node("usync", {}, [node("list", {}, users(world, stanza))])]
  if (xmlns === "w:g2" && child(stanza, "query") !== undefined) return groupNode(world, stanza.attrs["to"] ?? "")
  if (xmlns === "w:sync:app:state") {
    const asked = children(child(stanza, "sync"))
    return [
      node(
        "sync",
        {},
        asked.map(({ attrs }) => node("collection", { name: attrs["name"] ?? "", version: "0" }))
      )
    ]
  }
  if (xmlns !== "encrypt") return undefined
  if (child(stanza, "count") !== undefined) {
    return [node("count", { value: String(device?.bundle?.preKeys.length ?? 0) })]
  }
  if (child(stanza, "digest") !== undefined) return [node("digest", {})]
  if (child(stanza, "key") !== undefined) return bundles(world, stanza)
  if (type === "set" && device !== undefined && child(stanza, "list") !== undefined) device.bundle = published(stanza)
  return undefined
}
