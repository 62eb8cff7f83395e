import { DateTime, Duration, Option } from "effect"
import { PurchaseFact } from "../../store/domain/PurchaseFact.ts"
import type { Subscription, SubscriptionStatus } from "./Subscription.ts"

type Ending = "at_expiry" | "after_grace" | "after_retries" | "at_resumption" | "never"

const endingOf: { readonly [Status in SubscriptionStatus]: Ending } = {
  active: "at_expiry",
  trialing: "at_expiry",
  canceled: "at_expiry",
  paused_pending: "at_expiry",
  in_grace_period: "after_grace",
  in_billing_retry: "after_retries",
  on_hold: "after_retries",
  paused: "at_resumption",
  expired: "never",
  revoked: "never",
  unknown: "never"
}

/** Both stores try a payment again for at most 60 days. */
const retries = Duration.days(61)

/** Stores tell of a renewal at the moment itself, or a little later. */
const slack = Duration.minutes(1)

/** The moment at which the status as it stands comes to its end by itself. */
export const endOf = (subscription: Subscription): Option.Option<DateTime.Utc> => {
  const { autoResumeDate, expiresDate, gracePeriodExpiresDate, status } = subscription
  switch (endingOf[status]) {
    case "at_expiry":
      return expiresDate
    case "after_grace":
      return Option.orElse(gracePeriodExpiresDate, () => expiresDate)
    case "after_retries":
      return Option.map(expiresDate, DateTime.addDuration(retries))
    case "at_resumption":
      return autoResumeDate
    case "never":
      return Option.none()
  }
}

const soonest = Duration.minutes(15)
const latest = Duration.days(1)

/**
 * When the store is to be asked whether a subscription goes on (contract, part 3, "Subscription states"): shortly after
 * its end; and while the store leaves that open, again after half of the time that has passed since, between a quarter of
 * an hour and a day.
 */
export const lookAt = (subscription: Subscription, now: DateTime.Utc): Option.Option<DateTime.Utc> =>
  Option.map(endOf(subscription), (end) => {
    const due = DateTime.addDuration(end, slack)
    if (DateTime.greaterThan(due, now)) return due
    const passed = Duration.millis(DateTime.distance(due, now) / 2)
    return DateTime.addDuration(now, Duration.clamp(passed, { minimum: soonest, maximum: latest }))
  })

/**
 * What the clock says of a subscription whose end has come while no store can be asked: a statement in the shape of the
 * stores' own, which counts only as long as no statement moves the end. A pause does not end in an expiry. `last` is the
 * newest statement.
 */
export const lapse = (subscription: Subscription, last: PurchaseFact, now: DateTime.Utc): Option.Option<PurchaseFact> =>
  endOf(subscription).pipe(
    Option.filter((end) => subscription.status !== "paused" && DateTime.lessThanOrEqualTo(end, now)),
    Option.map((end) =>
      PurchaseFact.make({
        ...last,
        factId: `lapsed:${subscription.storeTransactionId}:${DateTime.toEpochMillis(end)}`,
        kind: "lapsed",
        signedAt: DateTime.max(end, DateTime.addDuration(last.signedAt, Duration.millis(1))),
        status: "expired"
      })
    )
  )

const pauses = [
  Duration.seconds(30),
  Duration.minutes(2),
  Duration.minutes(10),
  Duration.minutes(30),
  Duration.hours(1)
] as const

/** How long to wait after the `attempts`th failure in a row: growing up to an hour, and not less than the store asks for. */
export const pauseAfter = (attempts: number, asked: Option.Option<Duration.Duration>): Duration.Duration => {
  const own = pauses[Math.min(Math.max(attempts, 1), pauses.length) - 1] ?? Duration.hours(1)
  return Option.match(asked, { onNone: () => own, onSome: (pause) => Duration.max(own, pause) })
}
