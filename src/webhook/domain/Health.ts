import { DateTime, Duration } from "effect"
import { isGone, isSuccess } from "./Settle.ts"

const patience = Duration.days(3)

/** What the latest answers say about an endpoint: one success forgets the failures, 410 ends it whatever else it said. */
export const healthOf = (codes: ReadonlyArray<number>): "gone" | "well" | "failing" =>
  codes.some(isGone) ? "gone" : codes.some(isSuccess) ? "well" : "failing"

/** Three days without one success are enough (contract, part 4, "Webhooks"). */
export const isLost = (failingSince: DateTime.Utc, now: DateTime.Utc): boolean =>
  DateTime.distance(failingSince, now) >= Duration.toMillis(patience)
