import { Headers, type HttpApp, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Effect, Schema, Stream } from "effect"

const kinds = Schema.Literal("answer", "answer_after_effect", "slow", "hang", "stall", "reset", "another_app")

/**
 * What the next `times` calls whose path contains `path` (whole words) get instead of their answer; `times` null lasts until it is
 * cleared. `answer_after_effect` does what was asked and then answers so; `slow` answers as always, `delay_ms` later;
 * `hang` takes the call and never answers, `stall` begins a body and never ends it (a half-open connection), `reset` cuts
 * the connection; `another_app` answers about an app that nobody asked for.
 */
export const Failure = Schema.Struct({
  path: Schema.String,
  status: Schema.optionalWith(Schema.Int, { default: () => 500 }),
  body: Schema.optionalWith(Schema.Unknown, { default: () => ({ status: "fail" }) }),
  raw: Schema.optional(Schema.String),
  headers: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.String }), { default: () => ({}) }),
  times: Schema.optionalWith(Schema.NullOr(Schema.Int), { default: () => 1 }),
  delay_ms: Schema.optionalWith(Schema.NonNegativeInt, { default: () => 0 }),
  kind: Schema.optionalWith(kinds, { default: () => "answer" as const })
})
export type Failure = typeof Failure.Type

/** A failure of which only some is said. */
export const FailureParts = Schema.Struct({
  path: Schema.optional(Schema.String),
  status: Schema.optional(Schema.Int),
  body: Schema.optional(Schema.Unknown),
  raw: Schema.optional(Schema.String),
  headers: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String })),
  times: Schema.optional(Schema.NullOr(Schema.Int)),
  delay_ms: Schema.optional(Schema.NonNegativeInt),
  kind: Schema.optional(kinds)
})

/** A call as the simulator saw it: nothing of passwords, codes and sessions. */
export interface SeenCall {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
}

const hidden = ["authorization", "cookie"]
const callsKept = 2_000

const answerOf = ({ body, headers, raw, status }: Failure) =>
  raw === undefined
    ? HttpServerResponse.unsafeJson(body, { status, headers })
    : HttpServerResponse.text(raw, { status, headers, contentType: "text/html" })

const beginning = Stream.concat(Stream.make(new TextEncoder().encode('{"status":')), Stream.never)

/** Marks a request that is to be answered about another app. */
const anotherApp = "x-simulated-another-app"

/** Whether the answer to this request shall be about an app that nobody asked for. */
export const isAboutAnotherApp = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ headers }) => headers[anotherApp] !== undefined
)

/** `part` ends where a word of the path ends: `/token` does not mean `/tokens/…`. */
const isMeant = (part: string, path: string): boolean => {
  const at = path.indexOf(part)
  return at !== -1 && (part.endsWith("/") || !/^\w/.test(path.slice(at + part.length)))
}

/** Notes every call and plays the failures that were asked for. */
export const makeScript = () => {
  const failures: Array<{ readonly failure: Failure; left: number }> = []
  const calls: Array<SeenCall> = []

  const note = ({ headers, method, url }: HttpServerRequest.HttpServerRequest) => {
    const [path = "", query = ""] = url.split("?", 2)
    const shown = Object.entries(headers).filter(([name]) => !hidden.includes(name))
    calls.push({ method, path, query, headers: Object.fromEntries(shown) })
    calls.splice(0, calls.length - callsKept)
    return path
  }

  const play = <E, R>(
    { failure }: { readonly failure: Failure },
    app: HttpApp.Default<E, R>
  ): HttpApp.Default<E, R> => {
    switch (failure.kind) {
      case "answer":
        return Effect.succeed(answerOf(failure))
      case "answer_after_effect":
        return Effect.as(app, answerOf(failure))
      case "slow":
        return Effect.delay(app, failure.delay_ms)
      case "another_app":
        return Effect.updateService(app, HttpServerRequest.HttpServerRequest, (request) =>
          request.modify({ headers: Headers.set(request.headers, anotherApp, "1") })
        )
      case "hang":
        return Effect.never
      case "stall":
        return Effect.succeed(HttpServerResponse.stream(beginning, { contentType: "application/json" }))
      case "reset":
        return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
          Effect.zipRight(
            Effect.sync(() => NodeHttpServerRequest.toIncomingMessage(request).socket.destroy()),
            Effect.never
          )
        )
    }
  }

  return {
    calls,
    add: (failure: Failure) => failures.push({ failure, left: failure.times ?? Infinity }),
    /** The failures that are still to come. */
    pending: () => failures.filter(({ left }) => left > 0).map(({ failure }) => failure),
    forgive: () => {
      failures.length = 0
    },
    clear: () => {
      failures.length = 0
      calls.length = 0
    },
    apply: <E, R>(app: HttpApp.Default<E, R>): HttpApp.Default<E, R> =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
        if (request.url === "/" || request.url.startsWith("/_control")) return app
        const path = note(request)
        const next = failures.find(({ failure, left }) => left > 0 && isMeant(failure.path, path))
        if (next === undefined) return app
        next.left -= 1
        return play(next, app)
      })
  }
}

export type Script = ReturnType<typeof makeScript>
