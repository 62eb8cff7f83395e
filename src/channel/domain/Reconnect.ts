import { Data, Duration } from "effect"
import type { ConnectionEnd } from "../../platform/domain/PlatformEvent.ts"

/**
 * What a channel does after its connection ended.
 * - `Again`: connect after `wait`; `isShown` says whether the channel counts as not connected meanwhile
 * - `Over`: stop trying, with this status; `isForgotten` sessions are of no use to anybody
 * - `Left`: we closed it ourselves
 */
export type NextStep = Data.TaggedEnum<{
  Again: { readonly wait: Duration.Duration; readonly isShown: boolean }
  Over: { readonly status: "error" | "disconnected"; readonly isForgotten: boolean }
  Left: {}
}>
export const NextStep = Data.taggedEnum<NextStep>()

const first = Duration.seconds(1)
const longest = Duration.minutes(5)
const afterReplacement = Duration.minutes(1)
const restartsInARow = 5

/** The nth wait in a row, between half of it and all of it, so that channels do not come back in step. */
export const backoff = (times: number, chance: number): Duration.Duration =>
  Duration.times(Duration.min(Duration.times(first, 2 ** Math.min(times - 1, 10)), longest), 0.5 + chance / 2)

/**
 * `times` is how many connections in a row ended without lasting, this one included; `chance` is a random number in
 * [0, 1). A session that somebody else took is taken back once, and not at once: two owners would fight for ever.
 */
export const nextStep = (end: ConnectionEnd, times: number, chance: number): NextStep => {
  switch (end) {
    case "restart":
      return NextStep.Again({
        wait: times > restartsInARow ? backoff(times, chance) : Duration.zero,
        isShown: times > restartsInARow
      })
    case "lost":
      return NextStep.Again({ wait: backoff(times, chance), isShown: true })
    case "slow_down":
      return NextStep.Again({ wait: Duration.sum(longest, backoff(times, chance)), isShown: true })
    case "replaced":
      return times > 1
        ? NextStep.Over({ status: "error", isForgotten: false })
        : NextStep.Again({ wait: Duration.sum(afterReplacement, backoff(times, chance)), isShown: true })
    case "qr_expired":
      return NextStep.Over({ status: "disconnected", isForgotten: true })
    case "logged_out":
      return NextStep.Over({ status: "error", isForgotten: true })
    case "banned":
    case "app_version_rejected":
    case "relink_required":
      return NextStep.Over({ status: "error", isForgotten: false })
    case "stopped":
      return NextStep.Left()
  }
}
