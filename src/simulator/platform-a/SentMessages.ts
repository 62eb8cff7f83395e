import type { BinaryNode, proto } from "baileys"
import { bytesOf, child, children } from "./Nodes.ts"
import type { Person } from "./Person.ts"
import type { Device, World } from "./World.ts"

const textOf = (message: proto.IMessage) => message.conversation ?? message.extendedTextMessage?.text ?? ""

const typeOf = (enc: BinaryNode) => (enc.attrs["type"] === "pkmsg" ? "pkmsg" : "msg")

/** Each recipient opens what is meant for it; what a group is told needs the key that came with it or before. */
export const readSent = async (world: World, stanza: BinaryNode, device: Device) => {
  const sender = world.aliasOf(device)
  const id = stanza.attrs["id"] ?? ""
  const chat = stanza.attrs["to"] ?? ""
  const note = (message: proto.IMessage, at: Person | undefined) => {
    const known = world.sent.find((sent) => sent.id === id && sent.account === device.phone)
    if (known !== undefined) {
      known.times += 1
      return
    }
    world.sent.push({
      id,
      account: device.phone,
      chat: at?.address ?? chat,
      text: textOf(message),
      deletes: message.protocolMessage?.key?.id ?? undefined,
      times: 1
    })
  }
  for (const part of children(child(stanza, "participants"))) {
    const person = world.personAt(part.attrs["jid"] ?? "")
    const enc = child(part, "enc")
    if (person === undefined || person.phone === device.phone || enc === undefined) continue
    const message = await person.decrypt(sender, typeOf(enc), bytesOf(enc))
    if (message.senderKeyDistributionMessage) await person.learnGroupKey(sender, message.senderKeyDistributionMessage)
    else note(message, person)
  }
  const shared = child(stanza, "enc")
  if (shared?.attrs["type"] !== "skmsg") return
  const members = [...(world.groups.get(chat)?.members ?? [])].filter((phone) => phone !== device.phone)
  const [reader] = members
  if (reader !== undefined) note(await world.person(reader).decryptGroup(sender, chat, bytesOf(shared)), undefined)
}
