import { DateTime, Duration, Option } from "effect"
import { delayAfter } from "./RetryTable.ts"
import type { DeliveryState } from "./Webhook.ts"

export interface Verdict {
  readonly state: DeliveryState
  readonly attemptCount: number
  readonly dueAt: Option.Option<DateTime.Utc>
  /** Why the endpoint gets nothing more, when the answer says so. */
  readonly disable: Option.Option<string>
}

const gone = 410

/** What an attempt's outcome means for its delivery: only 2xx is success (gateway specification, part 6, "Retries"). */
export const verdict = (input: {
  readonly attemptCount: number
  readonly retryCount: number
  readonly code: number
  readonly retryAfter: Option.Option<string>
  readonly now: DateTime.Utc
}): Verdict => {
  const attemptCount = input.attemptCount + 1
  const ended = (state: DeliveryState) => ({ state, attemptCount, dueAt: Option.none(), disable: Option.none() })
  if (input.code >= 200 && input.code < 300) return ended("succeeded")
  if (input.code === gone) return { ...ended("exhausted"), disable: Option.some("the target answered 410 Gone") }
  const delay = delayAfter({ ...input, failures: attemptCount, status: input.code })
  return Option.match(delay, {
    onNone: () => ended("exhausted"),
    onSome: (wait: Duration.Duration) => ({
      state: "failed",
      attemptCount,
      dueAt: Option.some(DateTime.addDuration(input.now, wait)),
      disable: Option.none()
    })
  })
}
