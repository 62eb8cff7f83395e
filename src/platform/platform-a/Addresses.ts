import { createHash } from "node:crypto"

const phoneServer = "@s.whatsapp.net"
const aliasServer = "@lid"

/** An address without its device: `491700000001:7@s.whatsapp.net` is the person `491700000001@s.whatsapp.net`. */
export const personOf = (address: string): string =>
  address.replace(/[:_]\d+(?:[:_]\d+)?@/, "@").replace(/@c\.us$/, phoneServer)

export const isGroup = (address: string): boolean => address.endsWith("@g.us")

/** The addresses that we speak with: people, by phone number or alias, and groups; no status updates or newsletters. */
export const isAddress = (address: string): boolean => /^[\d-]{5,40}@(s\.whatsapp\.net|lid|g\.us)$/.test(address)

/** Status updates and newsletters; the platform itself is none of them. */
export const isNoConversation = (address: string): boolean => /@(broadcast|newsletter)$/.test(address)

/**
 * One name of several for the same person, and the rest: the phone number's is preferred, since an alias is all that a
 * stranger can make of it.
 */
export const canonical = (
  names: ReadonlyArray<string | null | undefined>
): { readonly name: string; readonly aliases: ReadonlyArray<string> } => {
  const known = [
    ...new Set(names.flatMap((name) => (name === null || name === undefined || name === "" ? [] : [personOf(name)])))
  ]
  const name = known.find((candidate) => !candidate.endsWith(aliasServer)) ?? known[0] ?? ""
  return { name, aliases: known.filter((candidate) => candidate !== name) }
}

/** The platform's id of a message of ours: always the same for the same message, and shaped like those of its own apps. */
export const sentId = (clientId: string): string =>
  `3EB0${createHash("sha256").update(clientId).digest("hex").slice(0, 18).toUpperCase()}`
