import { Schema } from "effect"

export const CustomerId = Schema.UUID.pipe(Schema.brand("CustomerId"))
export type CustomerId = typeof CustomerId.Type

/** The app's own name for a person: 1 to 255 characters, no control characters (contract, part 3, "Customers"). */
export const AppUserId = Schema.String.pipe(
  Schema.minLength(1),
  Schema.maxLength(255),
  Schema.filter((id) => !/\p{Cc}/u.test(id) || "must not contain control characters"),
  Schema.brand("AppUserId")
)
export type AppUserId = typeof AppUserId.Type

const anonymousPrefixes = ["$anonymous:", "$RCAnonymousID:"]

export const isAnonymous = (id: AppUserId): boolean => anonymousPrefixes.some((prefix) => id.startsWith(prefix))

/** The id of a customer that only a store has named so far. */
export const anonymousId = (unique: string): AppUserId => AppUserId.make(`$anonymous:${unique}`)

export class Customer extends Schema.Class<Customer>("Customer")({
  id: CustomerId,
  appUserId: AppUserId,
  isAnonymous: Schema.Boolean,
  firstSeen: Schema.DateTimeUtcFromDate,
  lastSeen: Schema.DateTimeUtcFromDate
}) {}
