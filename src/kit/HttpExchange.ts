import { Clock, Duration, Effect, Schedule } from "effect"
import { Agent, type Dispatcher } from "undici"

/** What goes out; `path` has the query. */
export interface Outgoing {
  readonly origin: string
  readonly method: "GET" | "POST"
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string | null
  /** For the whole exchange, from the first byte to the last. */
  readonly timeout: Duration.Duration
}

/** What came back. Header names are in lower case; `text` ends where the limit is when it is not whole. */
export interface Incoming {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
  readonly isWhole: boolean
}

/** Nobody is there, the answer broke off, or it took too long. */
export type Unanswered = "unreachable" | "broken off" | "too late"

interface Flight {
  readonly deadline: number
  readonly giveUp: () => void
}

type Raw = Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseStart"]>>[2]

/** Deadlines are looked at so often, for all exchanges together. */
const sweepEvery = "100 millis"

const joined = (raw: Raw): Incoming["headers"] => {
  const headers: Record<string, string | undefined> = {}
  for (const name in raw) {
    const value = raw[name]
    headers[name] = Array.isArray(value) ? value.join(", ") : value
  }
  return headers
}

/**
 * HTTP for calls that are made by the thousand, on connections that are kept: a client of many layers, with a timer and two
 * fibers for each call, would cost several times what the call itself does. Of an answer `longestAnswer` bytes are read.
 * Each exchange ends within its time; nothing is followed or inflated.
 */
export const makeHttpExchange = Effect.fn("HttpExchange.make")(function* (longestAnswer: number) {
  const clock = yield* Effect.clock
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() => new Agent({ headersTimeout: 0, bodyTimeout: 0 })),
    (opened) => Effect.promise(() => opened.destroy())
  )
  const flights = new Set<Flight>()
  const sweep = Effect.map(Clock.currentTimeMillis, (now) => {
    for (const flight of flights) if (flight.deadline <= now) flight.giveUp()
  })
  yield* Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced(sweepEvery)))

  return ({ body, headers, method, origin, path, timeout }: Outgoing) =>
    Effect.async<Incoming, Unanswered>((resume) => {
      const chunks: Array<Buffer> = []
      let controller: Dispatcher.DispatchController | undefined
      let answer: { readonly status: number; readonly headers: Incoming["headers"] } | undefined
      let size = 0
      let isOver = false

      const end = (result: Effect.Effect<Incoming, Unanswered>) => {
        if (isOver) return
        isOver = true
        flights.delete(flight)
        resume(result)
      }
      const stop = () => controller?.abort(new Error("nobody waits for the answer"))
      const giveUp = () => {
        end(Effect.fail("too late"))
        stop()
      }
      const received = () => {
        const { headers = {}, status = 0 } = answer ?? {}
        const text = Buffer.concat(chunks).toString("utf8", 0, longestAnswer)
        return Effect.succeed({ status, headers, text, isWhole: size <= longestAnswer })
      }
      const flight: Flight = { deadline: clock.unsafeCurrentTimeMillis() + Duration.toMillis(timeout), giveUp }
      flights.add(flight)
      agent.dispatch(
        { origin, path, method, headers, body },
        {
          onRequestStart: (started) => {
            controller = started
            if (isOver) stop()
          },
          onResponseStart: (_, status, raw) => {
            if (status >= 200) answer = { status, headers: joined(raw) }
          },
          onResponseData: (_, chunk) => {
            chunks.push(chunk)
            size += chunk.length
            if (size <= longestAnswer) return
            end(received())
            stop()
          },
          onResponseEnd: () => end(received()),
          onResponseError: () => end(Effect.fail(answer === undefined ? "unreachable" : "broken off"))
        }
      )
      return Effect.sync(() => {
        isOver = true
        flights.delete(flight)
        stop()
      })
    })
})
