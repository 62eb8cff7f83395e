import { type HttpApp, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Effect, Schema, Stream } from "effect"

/**
 * What the next `times` calls whose path contains `path` get instead of their answer. `answer_after_effect` does what was
 * asked and then answers so; `hang` never answers, `stall` begins a body and never ends it, `reset` cuts the connection.
 */
export const Failure = Schema.Struct({
  path: Schema.String,
  status: Schema.optionalWith(Schema.Int, { default: () => 500 }),
  body: Schema.optionalWith(Schema.Unknown, { default: () => ({ status: "fail" }) }),
  raw: Schema.optional(Schema.String),
  headers: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.String }), { default: () => ({}) }),
  times: Schema.optionalWith(Schema.Int, { default: () => 1 }),
  kind: Schema.optionalWith(Schema.Literal("answer", "answer_after_effect", "hang", "stall", "reset"), {
    default: () => "answer" as const
  })
})
type Failure = typeof Failure.Type

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
    add: (failure: Failure) => failures.push({ failure, left: failure.times }),
    clear: () => {
      failures.length = 0
      calls.length = 0
    },
    apply: <E, R>(app: HttpApp.Default<E, R>): HttpApp.Default<E, R> =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
        if (request.url.startsWith("/_control")) return app
        const path = note(request)
        const next = failures.find(({ failure, left }) => left > 0 && path.includes(failure.path))
        if (next === undefined) return app
        next.left -= 1
        return play(next, app)
      })
  }
}

export type Script = ReturnType<typeof makeScript>
