import { DateTime, Duration } from "effect"

/**
 * Logins by password that a channel may try without a success in between, and as many codes of a second factor or a
 * challenge: a platform takes more for an attack, and answers with challenges and bans.
 */
export const loginsAllowed = 3
export const loginWindow = Duration.hours(1)

/** When the next login may be tried, after so many of which this was the first that still counts. */
export const nextLoginAt = (oldest: DateTime.Utc): DateTime.Utc => DateTime.addDuration(oldest, loginWindow)
