import { Clock, Effect, Schema } from "effect"
import { after, Period, type Scale } from "./Timescale.ts"

/** What a control call changes of the clock. Each part is optional; `advance` comes last. */
export const ClockChange = Schema.Struct({
  seconds_per_month: Schema.optional(
    Schema.NullOr(Schema.Number.pipe(Schema.between(0.1, 1e8))).annotations({
      description: "Real seconds that a simulated month lasts; null is the calendar's own pace"
    })
  ),
  running: Schema.optional(Schema.Boolean.annotations({ description: "false stops the clock" })),
  advance: Schema.optional(Period.annotations({ description: "Jumps ahead by so much simulated time" }))
})

const monthMillis = 30 * 86_400_000

/**
 * The store's own clock. Its dates are those of the wall, so that a program believes them; accelerated time makes periods
 * shorter, as the stores' sandboxes do. Jumping leaves the wall behind: verifiers refuse what is signed more than a few
 * minutes ahead of theirs.
 */
export const makeStoreClock = Effect.fn("StoreClock.make")(function* (secondsPerMonth: Scale) {
  const state = { offset: 0, stoppedAt: Number.NaN, scale: secondsPerMonth }
  const startedAt = yield* Clock.currentTimeMillis
  const simulated = { months: 0, since: startedAt }

  const now = Effect.map(Clock.currentTimeMillis, (wall) =>
    Number.isNaN(state.stoppedAt) ? wall + state.offset : state.stoppedAt
  )

  const months = (moment: number) =>
    simulated.months + (moment - simulated.since) / (state.scale === null ? monthMillis : state.scale * 1000)

  const view = Effect.gen(function* () {
    const moment = yield* now
    const wall = yield* Clock.currentTimeMillis
    return {
      now: new Date(moment).toISOString(),
      running: Number.isNaN(state.stoppedAt),
      seconds_per_month: state.scale,
      simulated_months_since_start: Math.round(months(moment) * 100) / 100,
      ahead_of_the_wall_seconds: Math.round((moment - wall) / 100) / 10
    }
  })

  const change = Effect.fn("StoreClock.change")(function* (changes: typeof ClockChange.Type) {
    const wall = yield* Clock.currentTimeMillis
    const moment = yield* now
    if (changes.seconds_per_month !== undefined) {
      simulated.months = months(moment)
      simulated.since = moment
      state.scale = changes.seconds_per_month
    }
    if (changes.running === false) state.stoppedAt = moment
    if (changes.running === true) {
      state.offset = moment - wall
      state.stoppedAt = Number.NaN
    }
    if (changes.advance !== undefined) {
      const jump = after(moment, changes.advance, state.scale) - moment
      state.offset += jump
      state.stoppedAt += jump
    }
    return yield* view
  })

  return {
    now,
    view,
    change,
    scale: () => state.scale,
    isRunning: () => Number.isNaN(state.stoppedAt)
  } as const
})

export type StoreClock = Effect.Effect.Success<ReturnType<typeof makeStoreClock>>
