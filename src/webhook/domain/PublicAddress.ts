import ipaddr from "ipaddr.js"

/** Addresses that read as ordinary unicast but lead into a provider's own network. */
const denied: ReadonlyArray<readonly [ipaddr.IPv4 | ipaddr.IPv6, number]> = [
  ipaddr.parseCIDR("168.63.129.16/32"),
  ipaddr.parseCIDR("100:0:0:1::/64")
]

/**
 * Whether an address literal is on the public internet: neither loopback, private, link-local, multicast, reserved nor
 * a form that carries such an address inside (mapped, NAT64, 6to4). Brackets of a URL host are accepted.
 */
export const isPublicAddress = (literal: string): boolean => {
  const text = literal.replace(/^\[|\]$/g, "")
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.process(text)
  return (
    address.range() === "unicast" &&
    !denied.some(([network, bits]) => network.kind() === address.kind() && address.match([network, bits]))
  )
}

/** Why a URL cannot be a webhook target whatever it resolves to; null when it can. */
export const urlProblem = (text: string): string | null => {
  if (text.length > 2048) return "must have at most 2048 characters"
  if (!URL.canParse(text)) return "must be a URL"
  const url = new URL(text)
  if (url.protocol !== "http:" && url.protocol !== "https:") return "must be an http or https URL"
  if (url.username !== "" || url.password !== "") return "must not contain credentials"
  return null
}
