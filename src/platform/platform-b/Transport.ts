import { Clock, Duration, Effect, Schedule } from "effect"
import { Agent, type Dispatcher } from "undici"
import type { PlatformFailure } from "../Platform.ts"
import { failure } from "./Failures.ts"

/** What goes out; `path` has the query, a `form` is url-encoded already. */
export interface Outgoing {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly headers: Record<string, string>
  readonly form: string | undefined
}

/** What came back, body included. Header names are in lower case. */
export interface Incoming {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
}

/** A call and its answer, from the first byte to the last. */
const limit = Duration.toMillis("15 seconds")
const sweepEvery = "500 millis"
const longestAnswer = 32 * 1024 * 1024

type Raw = Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseStart"]>>[2]

const joined = (raw: Raw): Incoming["headers"] => {
  const headers: Record<string, string | undefined> = {}
  for (const name in raw) {
    const value = raw[name]
    headers[name] = Array.isArray(value) ? value.join(", ") : value
  }
  return headers
}

interface Flight {
  readonly deadline: number
  readonly give: (up: PlatformFailure) => void
}

/**
 * Calls of the platform, which is polled by thousands of channels: an HTTP client of many layers, with a timer for each
 * call, would cost several times what the call itself does. Each ends within its time; nothing is followed or inflated.
 */
export const makeTransport = Effect.fn("PlatformB.makeTransport")(function* (origin: string) {
  const clock = yield* Effect.clock
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() => new Agent({ headersTimeout: 0, bodyTimeout: 0 })),
    (opened) => Effect.promise(() => opened.destroy())
  )
  const flights = new Set<Flight>()
  const sweep = Effect.map(Clock.currentTimeMillis, (now) => {
    for (const flight of flights) {
      if (flight.deadline <= now) flight.give(failure("unavailable", "the platform did not answer in time"))
    }
  })
  yield* Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced(sweepEvery)))

  return ({ form, headers, method, path }: Outgoing) =>
    Effect.async<Incoming, PlatformFailure>((resume) => {
      const chunks: Array<Buffer> = []
      let controller: Dispatcher.DispatchController | undefined
      let answer = { status: 0, headers: joined({}) }
      let size = 0
      let isOver = false

      const end = (result: Effect.Effect<Incoming, PlatformFailure>) => {
        if (isOver) return
        isOver = true
        flights.delete(flight)
        resume(result)
      }
      const stop = () => controller?.abort(new Error("nobody waits for the answer"))
      const give = (up: PlatformFailure) => {
        end(up)
        stop()
      }
      const flight: Flight = { deadline: clock.unsafeCurrentTimeMillis() + limit, give }
      flights.add(flight)
      const body = form === undefined ? null : form
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
            if (size > longestAnswer) give(failure("unavailable", "an answer of the platform is too long"))
          },
          onResponseEnd: () => end(Effect.succeed({ ...answer, text: Buffer.concat(chunks).toString("utf8") })),
          onResponseError: () => end(failure("unavailable", "the platform cannot be reached"))
        }
      )
      return Effect.sync(() => {
        isOver = true
        flights.delete(flight)
        stop()
      })
    })
})
