import { DateTime, Duration, Option } from "effect"

/**
 * Spares a target that is down: after so many failed attempts in a row nothing is sent for a while, then one delivery
 * tries. What waits meanwhile is charged no attempt.
 */
export interface Circuit {
  /** Failed attempts in a row. */
  readonly failures: number
  /** How often it has opened since the last success. */
  readonly pauses: number
  /** Set while it is not closed: no attempt before, one at this moment. */
  readonly until: Option.Option<DateTime.Utc>
}

export type CircuitState = "closed" | "open" | "half_open"

export const closed: Circuit = { failures: 0, pauses: 0, until: Option.none() }

const patience = 50
const shortest = Duration.seconds(5)
const longest = Duration.minutes(5)

/** Nobody answered, or whoever did could not serve: a refusal of what was sent is a sign of life. */
export const isDown = (code: number): boolean => code === 0 || code === 429 || code >= 500

export const stateAt = ({ until }: Pick<Circuit, "until">, now: DateTime.Utc): CircuitState =>
  Option.match(until, {
    onNone: () => "closed",
    onSome: (moment) => (DateTime.greaterThan(moment, now) ? "open" : "half_open")
  })

/** 5 s, doubling up to 5 minutes. */
const pauseOf = (pauses: number): Duration.Duration =>
  Duration.min(Duration.times(shortest, 2 ** Math.min(pauses, 10)), longest)

const opened = ({ failures, pauses }: Circuit, now: DateTime.Utc): Circuit => ({
  failures,
  pauses: pauses + 1,
  until: Option.some(DateTime.addDuration(now, pauseOf(pauses)))
})

/** What one more answer means; stragglers that fail while it is open change nothing. */
const after = (circuit: Circuit, code: number, now: DateTime.Utc): Circuit => {
  if (!isDown(code)) return closed
  const failed = { ...circuit, failures: circuit.failures + 1 }
  switch (stateAt(circuit, now)) {
    case "open":
      return circuit
    case "half_open":
      return opened(failed, now)
    case "closed":
      return failed.failures >= patience ? opened(failed, now) : failed
  }
}

/** What the answers of a batch mean, in the order in which they came. */
export const judged = (circuit: Circuit, codes: ReadonlyArray<number>, now: DateTime.Utc): Circuit =>
  codes.reduce((before, code) => after(before, code, now), circuit)
