import { DateTime, Option } from "effect"
import { delayAfter } from "./RetryTable.ts"
import type { DeliveryState } from "./Webhook.ts"

export interface Verdict {
  readonly state: Exclude<DeliveryState, "pending" | "delivering" | "canceled">
  readonly attemptCount: number
  readonly dueAt: Option.Option<DateTime.Utc>
}

const gone = 410

/** The answer by which a target takes itself off the list (contract, part 4, "Webhooks"). */
export const isGone = (code: number): boolean => code === gone

export const isSuccess = (code: number): boolean => code >= 200 && code < 300

/** What an attempt's outcome means for its delivery: only 2xx is success (gateway specification, part 6, "Retries"). */
export const verdict = (input: {
  readonly attemptCount: number
  readonly retryCount: number
  readonly code: number
  readonly retryAfter: Option.Option<string>
  readonly now: DateTime.Utc
}): Verdict => {
  const attemptCount = input.attemptCount + 1
  if (isSuccess(input.code)) return { state: "succeeded", attemptCount, dueAt: Option.none() }
  if (isGone(input.code)) return { state: "exhausted", attemptCount, dueAt: Option.none() }
  const dueAt = Option.map(delayAfter({ ...input, failures: attemptCount }), (wait) =>
    DateTime.addDuration(input.now, wait)
  )
  return { state: Option.isSome(dueAt) ? "failed" : "exhausted", attemptCount, dueAt }
}
