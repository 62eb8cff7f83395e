import { Array, DateTime, Duration, Option } from "effect"

const delays = Array.map(["5 seconds", "25 seconds", "2 minutes", "10 minutes", "50 minutes"] as const, Duration.decode)

const longest = Duration.minutes(50)

const seconds = /^\d{1,10}$/
/** `Sun, 06 Nov 1994 08:49:37 GMT`, the form that RFC 9110 has senders use. */
const httpDate = /^[A-Za-z]{3}, \d{2} [A-Za-z]{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** The wait after the nth failed attempt (gateway specification, part 6, "Retries"); none when no retry is left. */
export const nextDelay = (failures: number, retryCount: number): Option.Option<Duration.Duration> =>
  failures > retryCount ? Option.none() : Array.get(delays, failures - 1)

/** `Retry-After` in seconds or as an HTTP date, at most 50 minutes; none for anything else, the past included. */
export const retryAfter = (header: string, now: DateTime.Utc): Option.Option<Duration.Duration> => {
  const text = header.trim()
  const wait = seconds.test(text)
    ? Option.some(Number(text) * 1000)
    : httpDate.test(text)
      ? Option.map(DateTime.make(text.replace("GMT", "Z")), (moment) => moment.epochMillis - now.epochMillis)
      : Option.none()
  return Option.map(
    Option.filter(wait, (millis) => millis > 0),
    (millis) => Duration.min(Duration.millis(millis), longest)
  )
}

/** The wait of the table, or the longer one that the receiver asked for on 429 and 503 (contract, part 4, "Webhooks"). */
export const delayAfter = (input: {
  readonly failures: number
  readonly retryCount: number
  readonly code: number
  readonly retryAfter: Option.Option<string>
  readonly now: DateTime.Utc
}): Option.Option<Duration.Duration> =>
  Option.map(nextDelay(input.failures, input.retryCount), (delay) => {
    if (input.code !== 429 && input.code !== 503) return delay
    const asked = Option.flatMap(input.retryAfter, (header) => retryAfter(header, input.now))
    return Option.match(asked, { onNone: () => delay, onSome: (wait) => Duration.max(delay, wait) })
  })
