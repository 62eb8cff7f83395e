import { Clock, Context, Duration, Effect, Layer, Option, Schedule } from "effect"
import type { Dispatcher } from "undici"
import * as Connections from "./Connections.ts"
import { refusedCode, type TargetPolicy } from "./TargetGuard.ts"

/** What is sent: the body is final, the headers carry the signatures. */
export interface AttemptRequest {
  readonly url: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  /** Covers connecting, headers and body. */
  readonly timeout: Duration.Duration
}

/**
 * What came back. `code` is the HTTP status, 0 where no answer came; `error` is a short reason without addresses. A
 * status with an error is an answer whose body broke off: the status counts.
 */
export interface AttemptOutcome {
  readonly code: number
  readonly responseBody: string | null
  readonly retryAfter: Option.Option<string>
  readonly error: string | null
  readonly durationMs: number
}

const kept = 2 * 1024
const readAtMost = 64 * 1024
const sweepEvery = "100 millis"

const reasons: ReadonlyMap<string, string> = new Map([
  [refusedCode, "the target's address is not public"],
  ["UND_ERR_SOCKET", "the connection was closed"],
  ["UND_ERR_CONNECT_TIMEOUT", "time-out"],
  ["UND_ERR_HEADERS_OVERFLOW", "the answer's headers are too large"]
])

const reasonOf = (error: Error & { readonly code?: unknown }): string => {
  if (error.name === "HTTPParserError") return "the answer is not HTTP"
  const code = typeof error.code === "string" ? error.code : error.name
  return reasons.get(code) ?? code
}

/** PostgreSQL keeps no NUL in a text. */
const textOf = (chunks: ReadonlyArray<Buffer>): string =>
  chunks.length === 0 ? "" : Buffer.concat(chunks).subarray(0, kept).toString("utf8").replaceAll("\0", "")

let last = { text: "", url: new URL("http://0.0.0.0") }

/** A target gets many requests in a row. */
const parsed = (text: string): URL => {
  if (last.text !== text) last = { text, url: new URL(text) }
  return last.url
}

interface Flight {
  readonly deadline: number
  readonly expire: () => void
}

interface Landing extends AttemptOutcome {
  /** A kept connection that its other end had given up: the request was not looked at. */
  readonly wasStale: boolean
}

/**
 * Port: one POST to a target, which is finished within its time whatever happens: `landed` hears of it once, maybe before
 * `begin` returns. Never fails: whatever happens is an outcome. Redirects are not followed, bodies are neither asked for
 * compressed nor inflated, and at most 64 KiB of an answer are read.
 */
export class Attempt extends Context.Tag("gatehouse/webhook/Attempt")<
  Attempt,
  { readonly begin: (request: AttemptRequest, landed: (outcome: AttemptOutcome) => void) => void }
>() {
  static readonly layer = (policy: TargetPolicy) =>
    Layer.scoped(
      Attempt,
      Effect.gen(function* () {
        const clock = yield* Effect.clock
        const agents = yield* Connections.make(policy)

        /** One clock for all deadlines: a timer for each request would cost more than the request. */
        const flights = new Set<Flight>()
        const sweep = Effect.map(Clock.currentTimeMillis, (now) =>
          flights.forEach((flight) => (flight.deadline <= now ? flight.expire() : undefined))
        )
        yield* Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced(sweepEvery)))

        const post = (
          agent: Dispatcher,
          request: AttemptRequest,
          startedAt: number,
          landed: (landing: Landing) => void
        ) => {
          const chunks: Array<Buffer> = []
          let controller: Dispatcher.DispatchController | undefined
          let hearsNothing = () => false
          let size = 0
          let code = 0
          let retryAfter = Option.none<string>()
          let isOver = false

          const finish = (error: string | null, wasStale = false) => {
            if (isOver) return
            isOver = true
            flights.delete(flight)
            const durationMs = Math.max(0, clock.unsafeCurrentTimeMillis() - startedAt)
            const responseBody = code === 0 ? null : textOf(chunks)
            landed({ code, responseBody, retryAfter, error, durationMs, wasStale })
          }
          const stop = (reason: string | null) => {
            finish(reason)
            controller?.abort(new Error(reason ?? "enough was read"))
          }
          const flight: Flight = {
            deadline: startedAt + Duration.toMillis(request.timeout),
            expire: () => stop("time-out")
          }
          const posted = new Connections.Post(parsed(request.url), request.headers, request.body)
          flights.add(flight)
          agent.dispatch(posted, {
            onRequestStart: (started) => {
              controller = started
              if (isOver) started.abort(new Error("too late"))
              else hearsNothing = posted.connection?.use() ?? hearsNothing
            },
            onResponseStart: (_, status, headers) => {
              if (status < 200) return
              code = status
              const header = headers["retry-after"]
              retryAfter = typeof header === "string" ? Option.some(header) : Option.none()
            },
            onResponseData: (_, chunk) => {
              if (size < kept) chunks.push(chunk)
              size += chunk.length
              if (size > readAtMost) stop(null)
            },
            onResponseEnd: () => finish(null),
            onResponseError: (_, error) => finish(reasonOf(error), code === 0 && hearsNothing())
          })
        }

        return Attempt.of({
          begin: (request, landed) => {
            const startedAt = clock.unsafeCurrentTimeMillis()
            post(agents.kept, request, startedAt, (landing) =>
              landing.wasStale ? post(agents.fresh, request, startedAt, landed) : landed(landing)
            )
          }
        })
      })
    )
}
