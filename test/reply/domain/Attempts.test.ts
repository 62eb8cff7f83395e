import { assert, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Duration, FastCheck, Option } from "effect"
import { type ProviderFailureKind, waitBefore } from "../../../src/reply/domain/Attempts.ts"

const passing = ["rate_limited", "provider_error", "timeout", "network"] as const
const lasting = [
  "auth",
  "quota",
  "bad_request",
  "context_too_long",
  "invalid_response",
  "empty_completion",
  "refusal"
] as const
const failure = (kind: ProviderFailureKind, seconds?: number) => ({
  kind,
  retryAfter: Option.map(Option.fromNullable(seconds), Duration.seconds)
})
const minute = Duration.minutes(1)

it("asks again after a second, then two, then no more", () => {
  const waits = [1, 2, 3].map((failures) => waitBefore(failures, failure("timeout"), minute))
  deepStrictEqual(waits, [Option.some(Duration.seconds(1)), Option.some(Duration.seconds(2)), Option.none()])
})

it.prop(
  "waits as the provider wishes, and never longer than is left",
  [FastCheck.constantFrom(...passing), FastCheck.integer({ min: 0, max: 120 }), FastCheck.integer({ min: 0, max: 90 })],
  ([kind, wish, left]) => {
    const wait = waitBefore(1, failure(kind, wish), Duration.seconds(left))
    deepStrictEqual(wait, wish < left ? Option.some(Duration.seconds(wish)) : Option.none())
  }
)

it.prop("does not repeat what stays", [FastCheck.constantFrom(...lasting)], ([kind]) => {
  assert.isTrue(Option.isNone(waitBefore(1, failure(kind, 1), minute)))
})
