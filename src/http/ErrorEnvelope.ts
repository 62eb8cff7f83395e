import { SqlError } from "@effect/sql"
import { HttpApiBuilder, HttpApiError, HttpServerError, HttpServerResponse } from "@effect/platform"
import { Cause, Chunk, Effect } from "effect"
import type { FieldErrors, Problem } from "../api/Problem.ts"
import * as Problems from "../api/Problem.ts"
import { fieldErrors } from "./FieldErrors.ts"
import { allowedMethods } from "./Routes.ts"

const classes = Object.values(Problems).filter((exported) => typeof exported === "function")

const isProblem = (error: unknown): error is Problem => classes.some((Class) => error instanceof Class)

/** The one shape of every answer that is not a success (contract, part 2). */
export const problemResponse = (
  status: number,
  message: string,
  errors: FieldErrors = {},
  headers: Readonly<Record<string, string>> = {}
) => HttpServerResponse.unsafeJson({ message, errors }, { status, headers })

const headersOf = (problem: Problem): Readonly<Record<string, string>> => ({
  ...(problem.status === 401 ? { "www-authenticate": "Bearer" } : {}),
  ...(problem.retryAfter === undefined ? {} : { "retry-after": String(problem.retryAfter) })
})

export const answerOf = (problem: Problem) =>
  problemResponse(problem.status, problem.message, problem.errors, headersOf(problem))

const noRoute = (url: string) => {
  const allowed = allowedMethods(url)
  return allowed.length === 0
    ? problemResponse(404, "No such route.")
    : problemResponse(405, "The path does not know that method.", {}, { allow: allowed.join(", ") })
}

const storageIsDown = (cause: Cause.Cause<unknown>): boolean =>
  Chunk.some(Cause.defects(cause), (defect) => defect instanceof SqlError.SqlError && isConnectionLoss(defect.cause)) ||
  Chunk.some(Cause.defects(cause), isConnectionLoss)

const isConnectionLoss = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  const code = "code" in error ? String(error.code) : ""
  return /^(08|57P|53300)|^E(CONN|PIPE|TIMEDOUT|NOENT)/.test(code) || /connection|timeout exceeded/i.test(error.message)
}

/**
 * Turns everything that can go wrong under either API into the error envelope: problems as they are, undecodable input
 * as 422, a body that is not JSON as 400, lost storage as 503, and a defect as 500 that says nothing but is logged.
 */
export const enveloped = <E, R>(
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> =>
  Effect.catchAllCause(app, (cause) => {
    const error = Cause.squash(cause)
    if (Cause.isInterruptedOnly(cause)) return Effect.failCause(cause)
    if (isProblem(error)) return Effect.succeed(answerOf(error))
    if (error instanceof HttpApiError.HttpApiDecodeError) {
      return Effect.succeed(problemResponse(422, "The given data was invalid.", fieldErrors(error.issues)))
    }
    if (error instanceof HttpServerError.RequestError) {
      return Effect.succeed(problemResponse(400, "The body is not JSON."))
    }
    if (error instanceof HttpServerError.RouteNotFound) return Effect.succeed(noRoute(error.request.url))
    if (storageIsDown(cause)) {
      return Effect.as(
        Effect.logError("storage does not answer", cause),
        problemResponse(503, "The storage does not answer.", {}, { "retry-after": "2" })
      )
    }
    return Effect.as(Effect.logError("a request died", cause), problemResponse(500, "Something broke on our side."))
  })
/** Under the API, whose endpoints would otherwise encode what went wrong in their own way. */
export const ErrorEnvelope = HttpApiBuilder.middleware(enveloped)
