import { Schema } from "effect"

export const CustomerId = Schema.UUID.pipe(Schema.brand("CustomerId"))
export type CustomerId = typeof CustomerId.Type

const longest = 255

/** A rule that JSON Schema has no words for. */
const plain = { jsonSchema: {} }

/**
 * The app's own name for a person: 1 to 255 characters of any script, no control characters (contract, part 3,
 * "Customers"). A character is a code point, so that an emoji counts once.
 */
export const AppUserId = Schema.String.pipe(
  Schema.minLength(1),
  Schema.filter((id) => [...id].length <= longest || `must be at most ${longest} characters long`, {
    jsonSchema: { maxLength: longest }
  }),
  Schema.filter((id) => !/\p{Cc}/u.test(id) || "must not contain control characters", plain),
  Schema.filter((id) => !/\p{Cs}/u.test(id) || "must be well-formed Unicode", plain),
  Schema.filter((id) => (id !== "." && id !== "..") || "must not be a path of dots, which no URL can carry", plain),
  Schema.brand("AppUserId")
)
export type AppUserId = typeof AppUserId.Type

const anonymousPrefixes = ["$anonymous:", "$RCAnonymousID:"]

export const isAnonymous = (id: AppUserId): boolean => anonymousPrefixes.some((prefix) => id.startsWith(prefix))

/** The id of a customer that only a store has named so far, and of one whose name was erased. */
export const anonymousId = (unique: string): AppUserId => AppUserId.make(`$anonymous:${unique}`)

/**
 * A person as the app knows one. `originalAppUserId` is the first name, where that is another than the present one;
 * `erasedAt` marks a customer of whom only anonymous sums are left.
 */
export class Customer extends Schema.Class<Customer>("Customer")({
  id: CustomerId,
  appUserId: AppUserId,
  originalAppUserId: Schema.OptionFromNullOr(AppUserId),
  isAnonymous: Schema.Boolean,
  firstSeen: Schema.DateTimeUtcFromDate,
  lastSeen: Schema.DateTimeUtcFromDate,
  erasedAt: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate)
}) {}
