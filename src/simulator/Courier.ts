import { Effect, Random, Schema } from "effect"
import type { Alarm } from "./Motor.ts"
import type { StoreClock } from "./StoreClock.ts"
import { after, type Length, Period } from "./Timescale.ts"

/** How notifications go out from now on; what is absent stays as it is. */
export const DeliveryMode = Schema.Struct({
  send: Schema.optional(
    Schema.Literal("at_once", "hold", "never").annotations({
      description: "hold keeps them until they are released; never leaves them to whoever asks for the history"
    })
  ),
  copies: Schema.optional(Schema.Int.pipe(Schema.between(1, 20))),
  delay: Schema.optional(Schema.NullOr(Period)),
  another_app: Schema.optional(
    Schema.Boolean.annotations({ description: "They speak of an app that nobody asked for" })
  ),
  retry: Schema.optional(Schema.Boolean.annotations({ description: "false gives up after the first attempt" }))
})

export const Release = Schema.Struct({
  order: Schema.optionalWith(Schema.Literal("in_order", "reversed", "shuffled"), { default: () => "in_order" as const })
})

/** What the receiver said; status 0 is no answer. */
export interface Receiver {
  readonly status: number
  readonly body: string
}

export interface Attempt {
  readonly at: number
  readonly status: number
}

/** How one store sends: `post` makes one attempt, `isTaken` reads the answer, `pause` is the wait after n attempts. */
export interface Carrier<N> {
  readonly idOf: (letter: N) => string
  readonly post: (letter: N) => Effect.Effect<Receiver>
  readonly isTaken: (status: number) => boolean
  readonly pause: (letter: N, attempts: number, firstAt: number, now: number) => Length | undefined
}

interface Entry<N> {
  readonly letter: N
  readonly attempts: Array<Attempt>
  nextAt: number | undefined
  isHeld: boolean
}

interface Mode {
  send: "at_once" | "hold" | "never"
  copies: number
  delay: string | null
  another_app: boolean
  retry: boolean
}

const shortestPause = 200
const sendersAtOnce = 8

/** Sends notifications as a store does: once, again while the receiver does not take them, or as a control call says. */
export const makeCourier = Effect.fn("Courier.make")(function* <N>(
  clock: StoreClock,
  { wake }: Pick<Alarm, "wake">,
  carrier: Carrier<N>
) {
  const entries = new Map<string, Entry<N>>()
  const waiting = new Set<Entry<N>>()
  const mode: Mode = {
    send: "at_once",
    copies: 1,
    delay: null,
    another_app: false,
    retry: true
  }
  const scope = yield* Effect.scope
  const limit = yield* Effect.makeSemaphore(sendersAtOnce)

  const schedule = (entry: Entry<N>, at: number | undefined) => {
    entry.nextAt = at
    if (at === undefined) waiting.delete(entry)
    else waiting.add(entry)
  }

  const attempt = Effect.fn("Courier.attempt")(function* (entry: Entry<N>, again: boolean) {
    schedule(entry, undefined)
    const receiver = yield* carrier.post(entry.letter)
    const now = yield* clock.now
    entry.attempts.push({ at: now, status: receiver.status })
    const pause = carrier.pause(entry.letter, entry.attempts.length, entry.attempts[0]?.at ?? now, now)
    if (again && mode.retry && pause !== undefined && !carrier.isTaken(receiver.status)) {
      schedule(entry, Math.max(after(now, pause, clock.scale()), now + shortestPause))
      yield* wake
    }
    return receiver
  })

  /** Sends a notification as the mode says; null when nothing was sent yet. */
  const send = Effect.fn("Courier.send")(function* (letter: N) {
    const entry: Entry<N> = { letter, attempts: [], nextAt: undefined, isHeld: mode.send === "hold" }
    entries.set(carrier.idOf(letter), entry)
    if (mode.send !== "at_once") return null
    if (mode.delay !== null) {
      schedule(entry, after(yield* clock.now, mode.delay, clock.scale()))
      yield* wake
      return null
    }
    const receiver = yield* attempt(entry, true)
    yield* Effect.repeatN(attempt(entry, false), mode.copies - 2).pipe(Effect.when(() => mode.copies > 1))
    return receiver
  })

  const sendInTurn = (due: ReadonlyArray<Entry<N>>) =>
    Effect.forEach(due, (entry) => attempt(entry, true), { discard: true })

  return {
    send,
    /** The mode after a change. */
    change: (changes: typeof DeliveryMode.Type) => Effect.sync(() => ({ ...Object.assign(mode, changes) })),
    mode: () => mode,
    attemptsOf: (id: string): ReadonlyArray<Attempt> => entries.get(id)?.attempts ?? [],
    nextAttemptOf: (id: string): number | undefined => entries.get(id)?.nextAt,
    isHeld: (id: string): boolean => entries.get(id)?.isHeld === true,
    /** Sends one again, whatever became of it. */
    resend: (id: string) => {
      const entry = entries.get(id)
      return entry === undefined ? undefined : attempt(entry, false)
    },
    /** Sends what is held, and holds no more. */
    release: Effect.fn("Courier.release")(function* ({ order }: typeof Release.Type) {
      mode.send = "at_once"
      const held = [...entries.values()].filter(({ isHeld }) => isHeld)
      for (const entry of held) entry.isHeld = false
      const turns = order === "shuffled" ? [...(yield* Random.shuffle(held))] : held
      yield* sendInTurn(order === "reversed" ? turns.toReversed() : turns)
      return turns.length
    }),
    work: {
      due: () =>
        [...waiting].reduce<number | undefined>(
          (first, { nextAt }) => Math.min(first ?? Infinity, nextAt ?? Infinity),
          undefined
        ),
      run: (now: number) =>
        Effect.suspend(() => {
          const due = [...waiting].filter(({ nextAt }) => nextAt !== undefined && nextAt <= now)
          for (const entry of due) schedule(entry, undefined)
          return Effect.forEach(due, (entry) => Effect.forkIn(limit.withPermits(1)(attempt(entry, true)), scope), {
            discard: true
          })
        })
    }
  } as const
})
