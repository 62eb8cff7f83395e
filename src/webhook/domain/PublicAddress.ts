import ipaddr from "ipaddr.js"

/** Reads as ordinary unicast but leads into a provider's own network. */
const providers = ipaddr.parseCIDR("168.63.129.16/32")
/** All that was ever given out of IPv6. Outside are forms that carry an IPv4 address unnoticed, such as `::7f00:1`. */
const global = ipaddr.parseCIDR("2000::/3")

/**
 * Whether an address literal is on the public internet: neither loopback, private, link-local, multicast, reserved nor
 * a form that carries such an address inside (mapped, NAT64, 6to4). Brackets of a URL host are accepted.
 */
export const isPublicAddress = (literal: string): boolean => {
  const text = literal.replace(/^\[|\]$/g, "")
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.process(text)
  if (address.range() !== "unicast") return false
  return address.kind() === "ipv4" ? !address.match(providers) : address.match(global)
}
