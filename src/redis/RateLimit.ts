import { Clock, Context, Duration, Effect, Layer, Option } from "effect"
import { RedisClient } from "./RedisClient.ts"

/** How often something happened in the current window, and how long that still lasts. */
export interface Tally {
  readonly count: number
  readonly resetsIn: Duration.Duration
}

/**
 * Port: counters in fixed windows, shared by all processes where Redis is set, else in process. `add` counts one more,
 * `read` only looks.
 */
export class RateLimit extends Context.Tag("gatehouse/redis/RateLimit")<
  RateLimit,
  {
    readonly add: (key: string, window: Duration.Duration) => Effect.Effect<Tally>
    readonly read: (key: string, window: Duration.Duration) => Effect.Effect<Tally>
  }
>() {
  /** Keeps at most `capacity` counters; the oldest go first, so that made-up keys cost no memory. */
  static readonly layerMemory = (capacity = 10_000) =>
    Layer.sync(RateLimit, () => {
      const windows = new Map<string, { count: number; readonly endsAt: number }>()
      const current = (key: string, now: number) =>
        Option.filter(Option.fromNullable(windows.get(key)), ({ endsAt }) => endsAt > now)
      const tally = ({ count, endsAt }: { readonly count: number; readonly endsAt: number }, now: number): Tally => ({
        count,
        resetsIn: Duration.millis(Math.max(0, endsAt - now))
      })
      return RateLimit.of({
        add: (key, window) =>
          Effect.map(Clock.currentTimeMillis, (now) => {
            const entry = Option.getOrElse(current(key, now), () => ({
              count: 0,
              endsAt: now + Duration.toMillis(window)
            }))
            entry.count += 1
            windows.delete(key)
            windows.set(key, entry)
            const oldest = windows.keys().next()
            if (windows.size > capacity && oldest.done !== true) windows.delete(oldest.value)
            return tally(entry, now)
          }),
        read: (key, window) =>
          Effect.map(Clock.currentTimeMillis, (now) =>
            tally(
              Option.getOrElse(current(key, now), () => ({ count: 0, endsAt: now + Duration.toMillis(window) })),
              now
            )
          )
      })
    })

  static readonly layerRedis = Layer.effect(
    RateLimit,
    Effect.gen(function* () {
      const redis = yield* RedisClient
      const tally = (count: number, ttl: number, window: Duration.Duration): Tally => ({
        count,
        resetsIn: ttl > 0 ? Duration.millis(ttl) : window
      })
      return RateLimit.of({
        add: (key, window) =>
          redis.use(async (client) => {
            const name = `gatehouse:rate:${key}`
            const [count, ttl] = await Promise.all([client.incr(name), client.pttl(name)])
            if (count === 1 || ttl < 0) await client.pexpire(name, Duration.toMillis(window))
            return tally(count, ttl, window)
          }),
        read: (key, window) =>
          redis.use(async (client) => {
            const name = `gatehouse:rate:${key}`
            const [count, ttl] = await Promise.all([client.get(name), client.pttl(name)])
            return tally(Number(count ?? 0), ttl, window)
          })
      })
    })
  )
}
