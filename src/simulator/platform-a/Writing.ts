import type { BinaryNode, proto } from "baileys"
import type { Library } from "../../platform/platform-a/SilentLibrary.ts"
import { node, seconds, server } from "./Nodes.ts"
import type { Person } from "./Person.ts"
import type { Session, World } from "./World.ts"

/** How a message says who wrote it: by number with the alias beside it, the other way round, or by alias alone. */
export type Naming = "number" | "alias" | "alias_only"

const named = (person: Person, naming: Naming): BinaryNode["attrs"] => {
  if (naming === "number") return { from: person.address, sender_lid: person.alias }
  const alias = { from: person.alias, addressing_mode: "lid" }
  return naming === "alias" ? { ...alias, sender_pn: person.address } : alias
}

/** What people do on the platform, as the clients of an account hear of it. */
export const makeWriting = (library: Library, world: World) => {
  const sealed = async (author: Person, session: Session, message: proto.IMessage) => {
    const device = session.device()
    if (device?.bundle === undefined) return node("plaintext", {}, library.proto.Message.encode(message).finish())
    const { ciphertext, type } = await author.encrypt(world.aliasOf(device), device.bundle, message)
    return node("enc", { v: "2", type }, ciphertext)
  }

  const offline = (isLate: boolean): BinaryNode["attrs"] => (isLate ? { offline: "1" } : {})

  const deliver = (account: string, part: (session: Session, isLate: boolean) => Promise<void>) => {
    const isLate = world.sessionOf(account) === undefined
    return world.deliver(account, (session) => part(session, isLate))
  }

  const hand = (account: string, session: Session, message: BinaryNode) => {
    world.unconfirmed.set(account, [...(world.unconfirmed.get(account) ?? []), message])
    session.send(message)
  }

  const write = async (input: {
    readonly from: string
    readonly account: string
    readonly group: string | undefined
    readonly message: proto.IMessage
    readonly id: string
    readonly naming: Naming
    readonly times: number
  }) => {
    const author = world.person(input.from)
    const t = seconds()
    const chat = input.group ?? author.address
    world.written.push({ id: input.id, from: input.from, account: input.account, chat })
    for (let time = 0; time < input.times; time += 1) {
      await deliver(input.account, async (session, isLate) => {
        const attrs = { id: input.id, t, type: "text", notify: author.name, ...offline(isLate) }
        const content =
          input.group === undefined
            ? await sealed(author, session, input.message)
            : node("plaintext", {}, library.proto.Message.encode(input.message).finish())
        const who =
          input.group === undefined
            ? named(author, input.naming)
            : { from: input.group, participant: author.address, participant_lid: author.alias }
        hand(input.account, session, node("message", { ...attrs, ...who }, [content]))
      })
    }
  }

  /** Typed by the owner of the account on the phone. */
  const typeOnPhone = (account: string, to: string, text: string, id: string) => {
    const owner = world.person(account)
    const peer = world.person(to)
    return deliver(account, async (session, isLate) => {
      const message = { deviceSentMessage: { destinationJid: peer.address, message: { conversation: text } } }
      hand(
        account,
        session,
        node(
          "message",
          { id, from: owner.address, recipient: peer.address, t: seconds(), type: "text", ...offline(isLate) },
          [await sealed(owner, session, message)]
        )
      )
    })
  }

  const receipt = (account: string, chat: string, id: string, type: "delivered" | "read", by: string | undefined) =>
    deliver(account, async (session) =>
      session.send(
        node("receipt", {
          id,
          from: chat,
          t: seconds(),
          ...(type === "read" ? { type: "read" } : {}),
          ...(by === undefined ? {} : { participant: world.person(by).address })
        })
      )
    )

  /** Somebody could not read a message and asks for it again. */
  const askAgain = (account: string, chat: string, id: string) =>
    deliver(account, async (session) => {
      const t = seconds()
      const registration = Buffer.alloc(4)
      registration.writeUInt32BE(world.personAt(chat)?.creds.registrationId ?? 0)
      session.send(
        node("receipt", { id, from: chat, t, type: "retry" }, [
          node("retry", { count: "1", id, t, v: "1" }),
          node("registration", {}, registration)
        ])
      )
    })

  const changeGroup = (group: string, change: "add" | "remove", members: ReadonlyArray<string>, by: string) => {
    const known = world.groups.get(group)
    members.forEach((phone) => (change === "add" ? known?.members.add(phone) : known?.members.delete(phone)))
    const told = [...(known?.members ?? []), ...members].filter((phone) => world.deviceOf(phone) !== undefined)
    return Promise.all(
      [...new Set(told)].map((account) =>
        deliver(account, async (session, isLate) =>
          session.send(
            node(
              "notification",
              {
                from: group,
                type: "w:gp2",
                id: world.nextId(),
                participant: world.person(by).address,
                t: seconds(),
                ...offline(isLate)
              },
              [
                node(
                  change,
                  {},
                  members.map((phone) => node("participant", { jid: world.person(phone).address }))
                )
              ]
            )
          )
        )
      )
    )
  }

  return { write, typeOnPhone, receipt, askAgain, changeGroup, from: server } as const
}

export type Writing = ReturnType<typeof makeWriting>
