import { Clock, Context, Duration, Effect, Layer, Option, Schedule } from "effect"
import { Agent, type Dispatcher } from "undici"
import { guardedConnector } from "./TargetGuard.ts"

/** What is sent: the body is final, the headers carry the signatures. */
export interface AttemptRequest {
  readonly url: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  /** Covers connecting, headers and body. */
  readonly timeout: Duration.Duration
}

/** What came back. `code` is the HTTP status, 0 where no answer came; `error` is a short reason without addresses. */
export interface AttemptOutcome {
  readonly code: number
  readonly responseBody: string | null
  readonly retryAfter: Option.Option<string>
  readonly error: string | null
  readonly durationMs: number
}

const kept = 2 * 1024
const readAtMost = 64 * 1024

interface Flight {
  readonly deadline: number
  readonly expire: () => void
}

const reasonOf = (error: Error & { readonly code?: unknown }): string => {
  const code = typeof error.code === "string" ? error.code : error.name
  return code === "TARGET_REFUSED" ? error.message : code
}

const diedBeforeAnswer = (outcome: AttemptOutcome) =>
  outcome.code === 0 && ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"].includes(outcome.error ?? "")

/**
 * Port: one POST to a target. Never fails: whatever happens is an outcome. Redirects are not followed, bodies are neither
 * asked for compressed nor inflated, and at most 64 KiB of an answer are read.
 */
export class Attempt extends Context.Tag("gatehouse/webhook/Attempt")<
  Attempt,
  { readonly send: (request: AttemptRequest) => Effect.Effect<AttemptOutcome> }
>() {
  static readonly layer = (options: { readonly allowPrivate: boolean }) =>
    Layer.scoped(
      Attempt,
      Effect.gen(function* () {
        const clock = yield* Effect.clock
        const connect = guardedConnector(options)
        const agents = { kept: new Agent({ connect, pipelining: 1 }), fresh: new Agent({ connect, pipelining: 0 }) }
        yield* Effect.addFinalizer(() =>
          Effect.promise(() => Promise.all([agents.kept.destroy(), agents.fresh.destroy()]))
        )

        /** One clock for all deadlines: a timer for each request would cost more than the request. */
        const flights = new Set<Flight>()
        const sweep = Effect.map(Clock.currentTimeMillis, (now) =>
          flights.forEach((flight) => (flight.deadline <= now ? flight.expire() : undefined))
        )
        yield* Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced("100 millis")))

        const post = (agent: Agent, request: AttemptRequest) =>
          Effect.async<AttemptOutcome>((resume) => {
            const startedAt = clock.unsafeCurrentTimeMillis()
            const chunks: Array<Buffer> = []
            let controller: Dispatcher.DispatchController | undefined
            let size = 0
            let code = 0
            let retryAfter = Option.none<string>()
            let isOver = false

            const finish = (error: string | null) => {
              if (isOver) return
              isOver = true
              flights.delete(flight)
              const text = Buffer.concat(chunks).subarray(0, kept).toString("utf8").replaceAll("\0", "")
              const durationMs = clock.unsafeCurrentTimeMillis() - startedAt
              const responseBody = code === 0 ? null : text
              resume(Effect.succeed({ code, responseBody, retryAfter, error, durationMs }))
            }
            const stop = (reason: string | null) => {
              finish(reason)
              controller?.abort(new Error(reason ?? "enough was read"))
            }
            const flight: Flight = {
              deadline: startedAt + Duration.toMillis(request.timeout),
              expire: () => stop(code === 0 ? "time-out" : null)
            }
            flights.add(flight)

            const url = new URL(request.url)
            agent.dispatch(
              {
                origin: url.origin,
                path: url.pathname + url.search,
                method: "POST",
                headers: request.headers,
                body: request.body,
                headersTimeout: 0,
                bodyTimeout: 0
              },
              {
                onRequestStart: (started) => {
                  controller = started
                  if (isOver) started.abort(new Error("time-out"))
                },
                onResponseStart: (_, status, headers) => {
                  if (status < 200) return
                  code = status
                  const header = headers["retry-after"]
                  retryAfter = typeof header === "string" ? Option.some(header) : Option.none()
                },
                onResponseData: (_, chunk) => {
                  size += chunk.length
                  if (size <= readAtMost) chunks.push(chunk)
                  else stop(null)
                },
                onResponseEnd: () => finish(null),
                onResponseError: (_, error) => finish(code === 0 ? reasonOf(error) : null)
              }
            )
            return Effect.sync(() => stop("interrupted"))
          })

        return Attempt.of({
          send: (request) =>
            Effect.flatMap(post(agents.kept, request), (outcome) =>
              diedBeforeAnswer(outcome) ? post(agents.fresh, request) : Effect.succeed(outcome)
            )
        })
      })
    )
}
