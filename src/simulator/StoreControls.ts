import { Effect, Schema } from "effect"
import { act, ControlRefused, type ControlRoute, look } from "./Control.ts"
import { DeliveryMode, type makeCourier, Release } from "./Courier.ts"
import { type Failure, FailureParts, type Script } from "./Script.ts"
import { ClockChange, type StoreClock } from "./StoreClock.ts"

/** A failure by a name; each is what the real store does, `now` in milliseconds since 1970. */
export type Presets = { readonly [name: string]: (now: number) => Partial<Failure> }

/** The later parts win. */
const merged = (parts: ReadonlyArray<object>): Failure =>
  Object.assign(
    { path: "/", status: 500, body: {}, headers: {}, times: 1, delay_ms: 0, kind: "answer" as const },
    ...parts
  )

/** Names of failures that every store has. */
export const commonPresets: Presets = {
  outage: () => ({ kind: "reset", times: null }),
  slow: () => ({ kind: "slow", delay_ms: 5_000 }),
  garbage: () => ({ status: 200, raw: "<html><body>Service Unavailable</body></html>" }),
  half_open: () => ({ kind: "hang" }),
  broken_off: () => ({ kind: "stall" }),
  another_app: () => ({ kind: "another_app" })
}

/** The control calls that both stores have: the clock, how notifications go out, and what goes wrong. */
export const storeControls = <N>(parts: {
  readonly clock: StoreClock
  readonly courier: Effect.Effect.Success<ReturnType<typeof makeCourier<N>>>
  readonly script: Script
  readonly presets: Presets
  readonly usual: Partial<Failure>
  readonly wake: Effect.Effect<unknown>
  readonly sent: () => ReadonlyArray<N>
  readonly idOf: (letter: N) => string
  readonly resent: (letter: N, receiver: unknown) => object
}): ReadonlyArray<ControlRoute> => {
  const { clock, courier, script } = parts
  const names = Object.keys(parts.presets)
  const NewFailure = Schema.Struct({
    ...FailureParts.fields,
    preset: Schema.optional(
      Schema.String.pipe(
        Schema.filter((name) => names.includes(name) || `must be one of ${names.join(", ")}`),
        Schema.annotations({ jsonSchema: { type: "string", enum: names } })
      )
    )
  })
  return [
    look("GET", "/clock", "The store's clock and its pace", () => clock.view),
    act("POST", "/clock", "Sets the pace, stops or starts the clock, jumps ahead", ClockChange, (changes) =>
      Effect.zipLeft(clock.change(changes), parts.wake)
    ),
    look("GET", "/delivery", "How notifications go out", () => Effect.sync(courier.mode)),
    act(
      "POST",
      "/delivery",
      "Holds, loses, copies, delays or twists the notifications from now on",
      DeliveryMode,
      courier.change
    ),
    look("GET", "/notifications", "Every notification with the attempts to send it", () =>
      Effect.sync(() =>
        parts.sent().map((letter) => {
          const id = parts.idOf(letter)
          return { ...letter, attempts: courier.attemptsOf(id), next_attempt_at: courier.nextAttemptOf(id) ?? null }
        })
      )
    ),
    act("POST", "/notifications/release", "Sends what was held, and holds no more", Release, (how) =>
      Effect.map(courier.release(how), (released) => ({ released }))
    ),
    act("POST", "/notifications/:id/resend", "Sends one again", Schema.Struct({}), (_, { id }) =>
      Effect.gen(function* () {
        const letter = parts.sent().find((one) => parts.idOf(one) === id)
        const again = courier.resend(id ?? "")
        if (letter === undefined || again === undefined) {
          return yield* new ControlRefused({ status: 404, message: "No such notification." })
        }
        return parts.resent(letter, yield* again)
      })
    ),
    look("GET", "/failures", "The failures that are still to come", () => Effect.sync(script.pending)),
    act(
      "POST",
      "/failures",
      "What the next calls get instead of their answer; a preset fills in what is not said",
      NewFailure,
      ({ preset, ...own }) =>
        Effect.gen(function* () {
          const now = yield* clock.now
          const named = preset === undefined ? {} : (parts.presets[preset]?.(now) ?? {})
          const failure = merged([parts.usual, named, own])
          script.add(failure)
          return failure
        })
    ),
    look("DELETE", "/failures", "Lets everything go well again", () =>
      Effect.sync(() => (script.forgive(), { cleared: true }))
    ),
    look("GET", "/requests", "What was asked of the store", () => Effect.sync(() => script.calls)),
    look("DELETE", "/requests", "Forgets what was asked, and the failures", () =>
      Effect.sync(() => (script.clear(), { cleared: true }))
    )
  ]
}
