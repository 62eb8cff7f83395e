import type { Clock } from "effect"
import type { CacheStore, SocketConfig } from "baileys"
import type { Library } from "./SilentLibrary.ts"

/** As many as this are remembered: then the oldest is forgotten before its time. */
const most = 1_000

interface Entry {
  readonly value: unknown
  readonly until: number
}

/** What is set is there for so many seconds. The oldest comes first, for all last equally long. */
export const shortMemory = (clock: Clock.Clock, seconds: number): CacheStore => {
  const entries = new Map<string, Entry>()
  const isOver = ({ until }: Entry) => until <= clock.unsafeCurrentTimeMillis()
  const tidy = () => {
    for (const [key, entry] of entries) {
      if (entries.size <= most && !isOver(entry)) return
      entries.delete(key)
    }
  }
  return {
    get: <T>(key: string) => {
      const entry = entries.get(key)
      if (entry === undefined || isOver(entry)) return undefined
      const found: { value?: T } = {}
      return Object.assign(found, entry).value
    },
    set: (key, value) => {
      entries.delete(key)
      entries.set(key, { value, until: clock.unsafeCurrentTimeMillis() + seconds * 1_000 })
      tidy()
    },
    del: (key) => entries.delete(key),
    flushAll: () => entries.clear()
  }
}

/**
 * What the library would remember in caches of its own, which are six kilobytes each while they are empty: the devices of
 * who was written to, calls, and how often a message was asked for again.
 */
export const shortMemories = ({ DEFAULT_CACHE_TTLS: lasts }: Library, clock: Clock.Clock) =>
  ({
    userDevicesCache: shortMemory(clock, lasts.USER_DEVICES),
    callOfferCache: shortMemory(clock, lasts.CALL_OFFER),
    msgRetryCounterCache: shortMemory(clock, lasts.MSG_RETRY),
    placeholderResendCache: shortMemory(clock, lasts.MSG_RETRY)
  }) satisfies Partial<SocketConfig>
