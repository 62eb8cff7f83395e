import { Duration, Effect, TestClock, TestServices } from "effect"

const isBusy = Duration.greaterThan("7 millis")

/** Room for the database, and for more of it while the machine is so busy that even a sleep is late. */
const breath = Effect.sleep("4 millis").pipe(
  Effect.timed,
  Effect.repeat({ while: ([took]) => isBusy(took), times: 8 }),
  TestServices.provideLive
)

/** Lets time pass, a second at a time and with room for the database in between, until something holds. */
export const passUntil = <E, R>(holds: Effect.Effect<boolean, E, R>, seconds = 120) =>
  Effect.gen(function* () {
    for (let second = 0; second < seconds; second++) {
      if (yield* holds) return true
      yield* TestClock.adjust("1 second")
      yield* breath
    }
    return yield* holds
  })

export const pass = (seconds: number) => passUntil(Effect.succeed(false), seconds)

export const noon = TestClock.setTime(Date.parse("2026-03-01T12:00:00Z"))
