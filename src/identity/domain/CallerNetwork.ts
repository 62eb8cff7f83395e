import ipaddr from "ipaddr.js"

/**
 * What counts as one address in the limits on logins: an IPv4 address in either of its forms, or the /64 that one IPv6
 * customer has to himself and could otherwise walk through. Anything else stands for itself.
 */
export const callerNetwork = (address: string): string => {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed.kind() === "ipv4") return parsed.toString()
  return `${ipaddr.fromByteArray([...parsed.toByteArray().slice(0, 8), 0, 0, 0, 0, 0, 0, 0, 0]).toString()}/64`
}
