import { randomBytes } from "node:crypto"
import type { BinaryNode } from "baileys"
import type { Library } from "../../platform/platform-a/SilentLibrary.ts"
import { type Bundle, makePerson, type Person } from "./Person.ts"

/** A linked client of an account. */
export interface Device {
  readonly phone: string
  readonly number: number
  readonly identity: Uint8Array
  readonly registrationId: number
  bundle: Bundle | undefined
  hasHistory: boolean
}

export interface Group {
  readonly id: string
  subject: string
  readonly members: Set<string>
}

/** A message that a client sent, as its recipient reads it. */
export interface Sent {
  readonly id: string
  readonly account: string
  readonly chat: string
  readonly text: string
  readonly deletes: string | undefined
  times: number
}

/** A message that came in, with what is needed to take it back. */
export interface Written {
  readonly id: string
  readonly from: string
  readonly account: string
  readonly chat: string
}

/** One client on the line. */
export interface Session {
  readonly codes: ReadonlyArray<string>
  readonly account: () => string | undefined
  readonly device: () => Device | undefined
  readonly send: (stanza: BinaryNode) => void
  /** The platform ends it with a code, as it does when a client is unlinked or replaced. */
  readonly end: (code: number, reason?: string, type?: string) => void
  readonly hangUp: () => void
  /** The owner of the phone scans the QR code. */
  readonly scan: (advSecret: Buffer, phone: string) => boolean
  /** The owner of the phone types the pairing code. */
  readonly enterCode: (code: string) => Promise<boolean>
  readonly receive: (bytes: Uint8Array) => Promise<void>
}

/** The people, groups, linked clients and messages of the simulated platform. */
export const makeWorld = (library: Library) => {
  const people = new Map<string, Person>()
  const devices: Array<Device> = []
  const groups = new Map<string, Group>()
  const sessions = new Set<Session>()
  const sent: Array<Sent> = []
  const written: Array<Written> = []
  const typing: Array<{ readonly account: string; readonly chat: string; readonly state: string }> = []
  /** Messages whose arrival the client of an account has not confirmed: they come again when it is back. */
  const unconfirmed = new Map<string, Array<BinaryNode>>()
  const receipts: Array<{ readonly account: string; readonly id: string }> = []
  /** What waits for an account that is away. */
  const waiting = new Map<string, Array<(session: Session) => Promise<void>>>()
  const refusals: Array<string> = []
  const failures: Array<{ readonly reason: string; readonly phone: string | undefined }> = []

  const person = (phone: string, name = phone): Person => {
    const known = people.get(phone)
    if (known !== undefined) return known
    const made = makePerson(library, phone, name)
    people.set(phone, made)
    return made
  }

  const personAt = (address: string): Person | undefined => {
    const user = address.replace(/[:@].*$/, "")
    return address.endsWith("@lid") ? people.get(user.slice(1)) : people.get(user)
  }

  const deviceOf = (phone: string) => devices.findLast((device) => device.phone === phone)
  const sessionOf = (phone: string) => [...sessions].find((session) => session.account() === phone)

  /** Now, or when the account is back. */
  const deliver = async (phone: string, part: (session: Session) => Promise<void>) => {
    const session = sessionOf(phone)
    if (session !== undefined) return part(session)
    waiting.set(phone, [...(waiting.get(phone) ?? []), part])
  }

  return {
    people,
    devices,
    groups,
    sessions,
    sent,
    written,
    typing,
    unconfirmed,
    receipts,
    confirm: (account: string, id: string) => {
      receipts.push({ account, id })
      const left = (unconfirmed.get(account) ?? []).filter(({ attrs }) => attrs["id"] !== id)
      unconfirmed.set(account, left)
    },
    waiting,
    refusals,
    failures,
    person,
    personAt,
    deviceOf,
    sessionOf,
    deliver,
    nextId: () => randomBytes(10).toString("hex").toUpperCase(),
    openGroup: (subject: string, members: ReadonlyArray<string>) => {
      const group = { id: `1203630${randomBytes(5).readUIntBE(0, 5)}@g.us`, subject, members: new Set(members) }
      groups.set(group.id, group)
      return group
    },
    aliasOf: (device: Device) => `9${device.phone}:${device.number}@lid`
  }
}

export type World = ReturnType<typeof makeWorld>
