import { Duration, Option } from "effect"

/** Why a provider gave no usable reply: a closed list, also `reason` of failed replies. */
export type ProviderFailureKind =
  | "timeout"
  | "network"
  | "auth"
  | "quota"
  | "rate_limited"
  | "bad_request"
  | "context_too_long"
  | "provider_error"
  | "invalid_response"
  | "empty_completion"
  | "refusal"

export interface PassedFailure {
  readonly kind: ProviderFailureKind
  readonly retryAfter: Option.Option<Duration.Duration>
}

const repeats = 2

/** Kinds that another attempt may not meet again. */
const isPassing = (kind: ProviderFailureKind): boolean =>
  kind === "rate_limited" || kind === "provider_error" || kind === "timeout" || kind === "network"

/**
 * How long to wait before the next attempt: as the provider wishes, else a second, then two. None when the failure will
 * stay, when two repeats were made, or when the wait would outlast what is left of the budget (contract, part 4, "AI").
 */
export const waitBefore = (
  failures: number,
  failure: PassedFailure,
  left: Duration.Duration
): Option.Option<Duration.Duration> => {
  if (!isPassing(failure.kind) || failures > repeats) return Option.none()
  const wait = Option.getOrElse(failure.retryAfter, () => Duration.seconds(2 ** (failures - 1)))
  return Duration.lessThan(wait, left) ? Option.some(wait) : Option.none()
}
