import { HttpRouter } from "@effect/platform"
import type { proto } from "baileys"
import { Effect, Schema } from "effect"
import type { Library } from "../../platform/platform-a/SilentLibrary.ts"
import { body, json } from "../SimulatorServer.ts"
import type { World } from "./World.ts"
import type { Writing } from "./Writing.ts"

const Phone = Schema.String.pipe(Schema.pattern(/^\d{5,20}$/))

const Scan = Schema.Struct({ qr: Schema.String, phone: Phone })
const Code = Schema.Struct({ code: Schema.String })
const NewPerson = Schema.Struct({ phone: Phone, name: Schema.optional(Schema.String) })
const NewMessage = Schema.Struct({
  from: Phone,
  account: Phone,
  group: Schema.optional(Schema.String),
  text: Schema.optional(Schema.String),
  id: Schema.optional(Schema.String),
  named_by: Schema.optionalWith(Schema.Literal("number", "alias", "alias_only"), { default: () => "number" as const }),
  times: Schema.optionalWith(Schema.Int, { default: () => 1 }),
  content: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
})
const Typed = Schema.Struct({ account: Phone, to: Phone, text: Schema.String })
const Receipt = Schema.Struct({
  id: Schema.String,
  type: Schema.Literal("delivered", "read"),
  by: Schema.optional(Phone)
})
const OfMessage = Schema.Struct({ id: Schema.String })
const NewGroup = Schema.Struct({ subject: Schema.NonEmptyString, members: Schema.Array(Phone) })
const GroupChange = Schema.Struct({
  group: Schema.String,
  change: Schema.Literal("add", "remove"),
  members: Schema.Array(Phone),
  by: Phone
})
const Ending = Schema.Struct({
  account: Phone,
  code: Schema.optional(Schema.Int),
  reason: Schema.optionalWith(Schema.String, { default: () => "conflict" })
})
const Failure = Schema.Struct({ reason: Schema.String, phone: Schema.optional(Phone) })
const Refusal = Schema.Struct({ error: Schema.String })
const Rekey = Schema.Struct({ phone: Phone })

const done = json({ done: true })
const unknown = (what: string) => json({ message: `There is no such ${what}.` }, 404)

/** The simulator's own API, under `/_control`. */
export const makeControlRoutes = (library: Library, world: World, writing: Writing) => {
  const scan = Effect.map(body(Scan), ({ phone, qr }) => {
    const [code, , , secret] = qr.replace(/^.*#/, "").split(",")
    const session = [...world.sessions].find(({ codes }) => codes.includes(code ?? ""))
    if (session === undefined || secret === undefined) return unknown("QR code")
    session.scan(Buffer.from(secret, "base64"), phone)
    return done
  })

  const enterCode = Effect.flatMap(body(Code), ({ code }) =>
    Effect.promise(async () => {
      for (const session of world.sessions) {
        if (await session.enterCode(code)) return done
      }
      return unknown("pairing")
    })
  )

  const write = Effect.flatMap(body(NewMessage), (message) =>
    Effect.promise(async () => {
      const id = message.id ?? world.nextId()
      const content: proto.IMessage =
        message.content === undefined
          ? { conversation: message.text ?? "" }
          : library.proto.Message.fromObject(message.content)
      await writing.write({
        from: message.from,
        account: message.account,
        group: message.group,
        message: content,
        id,
        naming: message.named_by,
        times: message.times
      })
      return json({ id })
    })
  )

  const typeOnPhone = Effect.flatMap(body(Typed), ({ account, text, to }) =>
    Effect.promise(async () => {
      const id = world.nextId()
      await writing.typeOnPhone(account, to, text, id)
      return json({ id })
    })
  )

  const receipt = Effect.flatMap(body(Receipt), ({ by, id, type }) =>
    Effect.promise(async () => {
      const sent = world.sent.find((candidate) => candidate.id === id)
      if (sent === undefined) return unknown("message")
      await writing.receipt(sent.account, sent.chat, id, type, by)
      return done
    })
  )

  const askAgain = Effect.flatMap(body(OfMessage), ({ id }) =>
    Effect.promise(async () => {
      const sent = world.sent.find((candidate) => candidate.id === id)
      if (sent === undefined) return unknown("message")
      await writing.askAgain(sent.account, sent.chat, id)
      return done
    })
  )

  const takeBack = Effect.flatMap(body(OfMessage), ({ id }) =>
    Effect.promise(async () => {
      const written = world.written.find((candidate) => candidate.id === id)
      if (written === undefined) return unknown("message")
      const { account, chat, from } = written
      const key = { remoteJid: chat, fromMe: true, id }
      await writing.write({
        from,
        account,
        group: chat.endsWith("@g.us") ? chat : undefined,
        message: { protocolMessage: { type: library.proto.Message.ProtocolMessage.Type.REVOKE, key } },
        id: world.nextId(),
        naming: "number",
        times: 1
      })
      return done
    })
  )

  const end = Effect.map(body(Ending), ({ account, code, reason }) => {
    const session = world.sessionOf(account)
    if (session === undefined) return unknown("connection")
    if (code === undefined) session.hangUp()
    else session.end(code, reason, code === 401 ? "device_removed" : "replaced")
    if (code === 401) {
      world.devices.splice(0, world.devices.length, ...world.devices.filter(({ phone }) => phone !== account))
    }
    return done
  })

  return HttpRouter.empty.pipe(
    HttpRouter.post("/scan", scan),
    HttpRouter.post("/pairing-code", enterCode),
    HttpRouter.post(
      "/people",
      Effect.map(body(NewPerson), ({ name, phone }) => {
        const { address, alias } = world.person(phone, name)
        return json({ phone, address, alias })
      })
    ),
    HttpRouter.post("/messages", write),
    HttpRouter.post("/phone-messages", typeOnPhone),
    HttpRouter.post("/receipts", receipt),
    HttpRouter.post("/retries", askAgain),
    HttpRouter.post("/deletions", takeBack),
    HttpRouter.post(
      "/groups",
      Effect.map(body(NewGroup), ({ members, subject }) => {
        members.forEach((phone) => world.person(phone))
        return json({ id: world.openGroup(subject, members).id })
      })
    ),
    HttpRouter.post(
      "/groups/changes",
      Effect.flatMap(body(GroupChange), ({ by, change, group, members }) =>
        Effect.as(
          Effect.promise(() => writing.changeGroup(group, change, members, by)),
          done
        )
      )
    ),
    HttpRouter.post("/connections/end", end),
    HttpRouter.post(
      "/failures",
      Effect.map(body(Failure), ({ phone, reason }) => {
        world.failures.push({ reason, phone })
        return done
      })
    ),
    HttpRouter.post(
      "/refusals",
      Effect.map(body(Refusal), ({ error }) => {
        world.refusals.push(error)
        return done
      })
    ),
    HttpRouter.post(
      "/rekey",
      Effect.map(body(Rekey), ({ phone }) => {
        const device = world.deviceOf(phone)
        if (device === undefined) return unknown("account")
        for (const person of world.people.values()) person.forget(world.aliasOf(device))
        return done
      })
    ),
    HttpRouter.get(
      "/sent",
      Effect.sync(() => json(world.sent))
    ),
    HttpRouter.get(
      "/confirmed",
      Effect.sync(() => json(world.receipts))
    ),
    HttpRouter.get(
      "/devices",
      Effect.sync(() => json(world.devices.map(({ number, phone }) => ({ phone, number }))))
    ),
    HttpRouter.get(
      "/typing",
      Effect.sync(() => json(world.typing))
    ),
    HttpRouter.get(
      "/connections",
      Effect.sync(() => json([...world.sessions].map((session) => ({ account: session.account() ?? null }))))
    )
  )
}
