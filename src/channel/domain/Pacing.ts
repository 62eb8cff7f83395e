import { Array, DateTime, Duration, Option, Order, Schema } from "effect"
import type { PlatformName } from "../../platform/domain/PlatformEvent.ts"

/** How many sends there may be in any window of that length; null is no cap. */
const Cap = Schema.NullOr(Schema.Int.pipe(Schema.between(1, 1_000_000)))
const Seconds = Schema.Number.pipe(Schema.between(0, 3_600))

/** Contract, part 4, "Chats and messages", Pacing: how fast a channel may send. */
export const Pacing = Schema.Struct({
  gap_seconds: Schema.Tuple(Seconds, Seconds).pipe(
    Schema.filter(([least, most]) => least <= most || "the first must not be above the second", { jsonSchema: {} })
  ),
  per_minute: Cap,
  per_hour: Cap,
  per_day: Cap,
  new_chats_per_day: Cap
})
export type Pacing = typeof Pacing.Type

const defaults: { readonly [name in PlatformName]: Pacing } = {
  platform_a: { gap_seconds: [1, 3], per_minute: 20, per_hour: 300, per_day: 2000, new_chats_per_day: 30 },
  platform_b: { gap_seconds: [2, 5], per_minute: 10, per_hour: 100, per_day: 500, new_chats_per_day: 10 }
}

export const defaultPacing = (platform: PlatformName): Pacing => defaults[platform]

/**
 * The earlier sends that decide when the next one may be: the latest of all, and for each cap the one that is as many
 * sends back as the cap allows. A send counts from the moment it was tried.
 */
export interface Marks {
  readonly latest: Option.Option<DateTime.Utc>
  readonly perMinute: Option.Option<DateTime.Utc>
  readonly perHour: Option.Option<DateTime.Utc>
  readonly perDay: Option.Option<DateTime.Utc>
  /** Counts sends that opened a chat. */
  readonly newChats: Option.Option<DateTime.Utc>
}

/** Nothing that was sent before decides when the next send may be. */
export const isUnbounded = ({ gap_seconds, new_chats_per_day, per_day, per_hour, per_minute }: Pacing): boolean =>
  gap_seconds[1] === 0 && [per_minute, per_hour, per_day, new_chats_per_day].every((cap) => cap === null)

/** When the next send may be: after the gap, and after what the caps of the whole channel and of new chats ask for. */
export interface Slot {
  readonly afterGap: Option.Option<DateTime.Utc>
  readonly underCaps: Option.Option<DateTime.Utc>
  readonly underNewChats: Option.Option<DateTime.Utc>
}

const later =
  (by: Duration.Duration) =>
  (moment: Option.Option<DateTime.Utc>): Option.Option<DateTime.Utc> =>
    Option.map(moment, DateTime.addDuration(by))

export const latestOf = (moments: ReadonlyArray<Option.Option<DateTime.Utc>>): Option.Option<DateTime.Utc> =>
  Array.match(Array.getSomes(moments), {
    onEmpty: () => Option.none(),
    onNonEmpty: (some) => Option.some(Array.max(some, DateTime.Order))
  })

/** `chance` is a random number in [0, 1): where in the gap's range the next send lies. */
export const slotOf = (pacing: Pacing, marks: Marks, opensChat: boolean, chance: number): Slot => {
  const [least, most] = pacing.gap_seconds
  return {
    afterGap: later(Duration.millis(Math.ceil(1_000 * (least + (most - least) * chance))))(marks.latest),
    underCaps: latestOf([
      later(Duration.minutes(1))(marks.perMinute),
      later(Duration.hours(1))(marks.perHour),
      later(Duration.days(1))(marks.perDay)
    ]),
    underNewChats: opensChat ? later(Duration.days(1))(marks.newChats) : Option.none()
  }
}

/** The moment from which all of a slot's bounds are met; none when there is no bound. */
export const opening = ({ afterGap, underCaps, underNewChats }: Slot): Option.Option<DateTime.Utc> =>
  latestOf([afterGap, underCaps, underNewChats])

export const isAhead = (moment: Option.Option<DateTime.Utc>, now: DateTime.Utc): boolean =>
  Option.exists(moment, (at) => Order.greaterThan(DateTime.Order)(at, now))
