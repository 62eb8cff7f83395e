import { Effect, TestClock, TestServices } from "effect"
import { isAtRest } from "./Mortal.ts"

/** Real time until the database has answered, and nobody has asked it again; a statement that waits for another's is left. */
const breath = Effect.iterate(
  { looks: 0, restful: 0 },
  {
    while: ({ looks, restful }) => restful < 2 && looks < 500,
    body: ({ looks, restful }) =>
      Effect.map(Effect.sleep("2 millis"), () => ({ looks: looks + 1, restful: isAtRest() ? restful + 1 : 0 }))
  }
).pipe(TestServices.provideLive)

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
