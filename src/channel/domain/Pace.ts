import { Array, Duration, Option } from "effect"

const waits = Array.map(["5 minutes", "15 minutes", "45 minutes", "3 hours"] as const, Duration.decode)
const firstRetry = Duration.seconds(20)
const longestRetry = Duration.minutes(10)

/** The poll interval ±25 %; `chance` is a random number in [0, 1). */
export const jittered = (interval: Duration.Duration, chance: number): Duration.Duration =>
  Duration.times(interval, 0.75 + chance / 2)

/** The nth wait in a row after the platform asked to slow down; its own wish is honoured when it is longer. */
export const afterRateLimit = (times: number, asked: Option.Option<number>): Duration.Duration => {
  const wait = Option.getOrElse(Array.get(waits, Math.min(times, waits.length) - 1), () => firstRetry)
  return Option.match(asked, {
    onNone: () => wait,
    onSome: (seconds) => Duration.max(wait, Duration.seconds(Math.min(seconds, 86_400)))
  })
}

/** The nth wait in a row while the platform cannot be reached: 20 s doubling to 10 min. */
export const afterOutage = (times: number): Duration.Duration =>
  Duration.min(Duration.times(firstRetry, 2 ** Math.min(times - 1, 10)), longestRetry)

/** How long sending rests after the platform blocked it as an action: six hours, then a day each time. */
export const afterBlock = (times: number): Duration.Duration => (times <= 1 ? Duration.hours(6) : Duration.days(1))
