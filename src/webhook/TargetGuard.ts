import { lookup as systemLookup, type LookupAddress, type LookupAllOptions } from "node:dns"
import { isIP, type LookupFunction } from "node:net"
import { Data, Effect } from "effect"
import { buildConnector } from "undici"
import { isPublicAddress } from "./domain/PublicAddress.ts"
import { urlProblem } from "./domain/TargetUrl.ts"

/** The target is no public web address; `reason` is a sentence about the field `url`. */
export class TargetRefused extends Data.TaggedError("TargetRefused")<{ readonly reason: string }> {}

/** How names become addresses: `node:dns` unless a test says otherwise. */
export type Lookup = (
  name: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: Array<LookupAddress>) => void
) => void

export interface TargetPolicy {
  /** `WEBHOOK_ALLOW_PRIVATE`: no address is refused. */
  readonly allowPrivate: boolean
  readonly lookup?: Lookup
  /** Root certificates (PEM) that are trusted, the system's unless a test says otherwise. */
  readonly roots?: ReadonlyArray<string>
}

const connectTimeout = 30_000
const lookupTimeout = "5 seconds"

const hostOf = (hostname: string): string => hostname.replace(/^\[|\]$/g, "")

const resolve = (name: string, lookup: Lookup) =>
  Effect.async<ReadonlyArray<LookupAddress>>((resume) => {
    lookup(name, { all: true, verbatim: true }, (error, addresses) =>
      resume(Effect.succeed(error === null ? addresses : []))
    )
  }).pipe(Effect.timeoutTo({ duration: lookupTimeout, onTimeout: () => [], onSuccess: (addresses) => addresses }))

/**
 * A friendly refusal when a target is registered. A name that does not resolve yet passes: what counts is the check at
 * the connection (contract, part 4, "Webhooks").
 */
export const checkTarget = Effect.fn("checkTarget")(function* (url: string, policy: TargetPolicy) {
  const problem = urlProblem(url)
  if (problem !== null) return yield* new TargetRefused({ reason: problem })
  if (policy.allowPrivate) return
  const host = hostOf(new URL(url).hostname)
  const addresses =
    isIP(host) === 0 ? (yield* resolve(host, policy.lookup ?? systemLookup)).map(({ address }) => address) : [host]
  if (!addresses.every(isPublicAddress)) {
    return yield* new TargetRefused({ reason: "must not lead to a private, loopback or reserved address" })
  }
})

/** The code of the error with which a connection to such a target ends. */
export const refusedCode = "TARGET_REFUSED"

const refusal = () => Object.assign(new Error("the target's address is not public"), { code: refusedCode })

const reset = () => Object.assign(new Error("the connection was closed at once"), { code: "ECONNRESET" })

/** Answers only when every address is public; these very addresses are the ones that are dialled. */
const guarded =
  (lookup: Lookup): LookupFunction =>
  (name, options, callback) => {
    lookup(name, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, [])
      if (!addresses.every(({ address }) => isPublicAddress(address))) return callback(refusal(), [])
      if (options.all === true) return callback(null, addresses)
      const [first] = addresses
      return first === undefined ? callback(refusal(), []) : callback(null, first.address, first.family)
    })
  }

/**
 * How connections to targets are made: literals are checked before, names while they resolve, and the peer once more
 * when the socket stands, so that no change of a name between check and use leads inside.
 */
export const guardedConnector = (policy: TargetPolicy): buildConnector.connector => {
  const { allowPrivate, lookup = systemLookup, roots } = policy
  const options = { timeout: connectTimeout, ...(roots === undefined ? {} : { ca: [...roots] }) }
  if (allowPrivate) return buildConnector(options)
  const connect = buildConnector({ ...options, lookup: guarded(lookup) })
  return (target, callback) => {
    const host = hostOf(target.hostname)
    if (isIP(host) !== 0 && !isPublicAddress(host)) return callback(refusal(), null)
    connect(target, (...outcome) => {
      const [error, socket] = outcome
      if (error !== null) return callback(...outcome)
      const peer = socket.remoteAddress
      if (peer !== undefined && isPublicAddress(peer)) return callback(null, socket)
      socket.destroy()
      callback(peer === undefined ? reset() : refusal(), null)
    })
  }
}
