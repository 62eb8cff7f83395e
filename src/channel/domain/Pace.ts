import { Array, Duration, Option } from "effect"

const waits = Array.map(["5 minutes", "15 minutes", "45 minutes", "3 hours"] as const, Duration.decode)
const firstRetry = Duration.seconds(20)
const longestRetry = Duration.minutes(10)

/** The poll interval ±25 %; `chance` is a random number in [0, 1). */
export const jittered = (interval: Duration.Duration, chance: number): Duration.Duration =>
  Duration.times(interval, 0.75 + chance / 2)

/** Only ever longer, by a quarter at most, so that channels that failed together do not come back together. */
const spread = (wait: Duration.Duration, chance: number): Duration.Duration => Duration.times(wait, 1 + chance / 4)

/** The nth wait in a row after the platform asked to slow down; its own wish is honoured when it is longer. */
export const afterRateLimit = (times: number, asked: Option.Option<number>, chance: number): Duration.Duration => {
  const step = Option.getOrElse(Array.get(waits, Math.min(times, waits.length) - 1), () => firstRetry)
  const wait = spread(step, chance)
  return Option.match(asked, {
    onNone: () => wait,
    onSome: (seconds) => Duration.max(wait, Duration.seconds(Math.min(seconds, 86_400)))
  })
}

/** The nth wait in a row while the platform cannot be reached: 20 s doubling to 10 min. */
export const afterOutage = (times: number, chance: number): Duration.Duration =>
  spread(Duration.min(Duration.times(firstRetry, 2 ** Math.min(times - 1, 10)), longestRetry), chance)

/** While sending is frozen the platform is asked less often. */
export const whileFrozen = (interval: Duration.Duration): Duration.Duration => Duration.times(interval, 3)

/** How long sending rests after the platform blocked it as an action: six hours, then a day each time. */
export const afterBlock = (times: number): Duration.Duration => (times <= 1 ? Duration.hours(6) : Duration.days(1))
