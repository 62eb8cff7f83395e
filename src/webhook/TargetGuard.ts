import { lookup as lookupName, type LookupAddress } from "node:dns"
import { isIP, type LookupFunction, type Socket } from "node:net"
import { Data, Effect } from "effect"
import { buildConnector } from "undici"
import { isPublicAddress, urlProblem } from "./domain/PublicAddress.ts"

/** The target is no public web address; `reason` is a sentence about the field `url`. */
export class TargetRefused extends Data.TaggedError("TargetRefused")<{ readonly reason: string }> {}

const resolve = (name: string) =>
  Effect.async<ReadonlyArray<LookupAddress>>((resume) => {
    lookupName(name, { all: true, verbatim: true }, (error, addresses) =>
      resume(Effect.succeed(error === null ? addresses : []))
    )
  })

const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/g, "")

/**
 * A friendly refusal when a target is registered. A name that does not resolve yet passes: what counts is the check at
 * the connection (contract, part 4, "Webhooks").
 */
export const checkTarget = Effect.fn("checkTarget")(function* (
  url: string,
  options: { readonly allowPrivate: boolean }
) {
  const problem = urlProblem(url)
  if (problem !== null) return yield* new TargetRefused({ reason: problem })
  if (options.allowPrivate) return
  const host = hostOf(url)
  const addresses = isIP(host) === 0 ? (yield* resolve(host)).map(({ address }) => address) : [host]
  if (!addresses.every(isPublicAddress)) {
    return yield* new TargetRefused({ reason: "must not lead to a private, loopback or reserved address" })
  }
})

const refusal = () => Object.assign(new Error("the target's address is not public"), { code: "TARGET_REFUSED" })

/** Answers only when every address is public; these very addresses are the ones that are dialled. */
const guardedLookup: LookupFunction = (name, options, callback) => {
  lookupName(name, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, [])
    if (!addresses.every(({ address }) => isPublicAddress(address))) return callback(refusal(), [])
    if (options.all === true) return callback(null, addresses)
    const [first] = addresses
    return first === undefined ? callback(refusal(), []) : callback(null, first.address, first.family)
  })
}

/**
 * How connections to targets are made: literals are checked before, names while they resolve, and the peer once more
 * when the socket stands, so that no redirect of names between check and use leads inside.
 */
export const guardedConnector = (options: { readonly allowPrivate: boolean }): buildConnector.connector => {
  if (options.allowPrivate) return buildConnector({ timeout: 30_000 })
  const connect = buildConnector({ timeout: 30_000, lookup: guardedLookup })
  return (target, callback) => {
    const host = target.hostname.replace(/^\[|\]$/g, "")
    if (isIP(host) !== 0 && !isPublicAddress(host)) return callback(refusal(), null)
    connect(target, (error, socket: Socket | null) => {
      if (error !== null) return callback(error, null)
      if (socket?.remoteAddress === undefined || !isPublicAddress(socket.remoteAddress)) {
        socket?.destroy()
        return callback(refusal(), null)
      }
      callback(null, socket)
    })
  }
}
