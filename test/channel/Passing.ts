import { Effect, TestClock, TestServices } from "effect"

const breath = TestServices.provideLive(Effect.sleep("4 millis"))

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
