import { Clock, Context, Duration, Effect, Layer, Option, Schedule } from "effect"
import * as Connections from "./Connections.ts"
import type { Hearing } from "./PlainSender.ts"
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
/** Origins of which it is remembered that undici does not understand them. */
const plainAtMost = 1_000

const reasons: ReadonlyMap<string, string> = new Map([
  [refusedCode, "the target's address is not public"],
  ["UND_ERR_SOCKET", "the connection was closed"],
  ["UND_ERR_CONNECT_TIMEOUT", "time-out"],
  ["UND_ERR_HEADERS_OVERFLOW", "the answer's headers are too large"],
  ["HPE_HEADER_OVERFLOW", "the answer's headers are too large"]
])

type Failure = Error & { readonly code?: unknown }

const reasonOf = (error: Failure): string => {
  const code = typeof error.code === "string" ? error.code : error.name
  const known = reasons.get(code)
  if (known !== undefined) return known
  return error.name === "HTTPParserError" || code.startsWith("HPE_") ? "the answer is not HTTP" : code
}

/** How undici takes `100 Continue` that nobody asked for, and nothing else that belongs to a request. */
const isUnasked = (error: Failure): boolean => error.code === "UND_ERR_SOCKET" && error.message === "bad response"

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
  /**
   * `fresh` after a kept connection that its other end had given up: the request was not looked at. `plain` after
   * `100 Continue`: whatever came after it was not read.
   */
  readonly again: "fresh" | "plain" | null
}

interface Sender {
  readonly dispatch: (post: Connections.Post, hearing: Hearing) => unknown
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
        const { fresh, kept: keeping, plain } = yield* Connections.make(policy)
        const plainOrigins = new Set<string>()

        /** One clock for all deadlines: a timer for each request would cost more than the request. */
        const flights = new Set<Flight>()
        const sweep = Effect.map(Clock.currentTimeMillis, (now) =>
          flights.forEach((flight) => (flight.deadline <= now ? flight.expire() : undefined))
        )
        yield* Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced(sweepEvery)))

        const post = (
          sender: Sender,
          request: AttemptRequest,
          startedAt: number,
          landed: (landing: Landing) => void
        ) => {
          const chunks: Array<Buffer> = []
          let abort: (reason: Error) => void = () => undefined
          let hearsNothing = () => false
          let size = 0
          let code = 0
          let retryAfter = Option.none<string>()
          let isOver = false

          const finish = (error: string | null, again: Landing["again"] = null) => {
            if (isOver) return
            isOver = true
            flights.delete(flight)
            const durationMs = Math.max(0, clock.unsafeCurrentTimeMillis() - startedAt)
            const responseBody = code === 0 ? null : textOf(chunks)
            landed({ code, responseBody, retryAfter, error, durationMs, again })
          }
          const stop = (reason: string | null) => {
            finish(reason)
            abort(new Error(reason ?? "enough was read"))
          }
          const flight: Flight = {
            deadline: startedAt + Duration.toMillis(request.timeout),
            expire: () => stop("time-out")
          }
          const posted = new Connections.Post(parsed(request.url), request.headers, request.body)
          flights.add(flight)
          sender.dispatch(posted, {
            onRequestStart: (started) => {
              abort = (reason) => started.abort(reason)
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
            onResponseError: (_, error) => {
              const again = code !== 0 ? null : isUnasked(error) ? "plain" : hearsNothing() ? "fresh" : null
              finish(reasonOf(error), again)
            }
          })
        }

        const remember = (origin: string) => {
          const [oldest] = plainOrigins
          if (oldest !== undefined && plainOrigins.size >= plainAtMost) plainOrigins.delete(oldest)
          plainOrigins.add(origin)
        }

        return Attempt.of({
          begin: (request, landed) => {
            const startedAt = clock.unsafeCurrentTimeMillis()
            const send = (sender: Sender) =>
              post(sender, request, startedAt, (landing) => {
                if (landing.again === null) return landed(landing)
                if (landing.again === "plain") remember(parsed(request.url).origin)
                send(landing.again === "plain" ? plain : fresh)
              })
            send(plainOrigins.size > 0 && plainOrigins.has(parsed(request.url).origin) ? plain : keeping)
          }
        })
      })
    )
}
