import { HttpClient, HttpClientRequest, type HttpClientResponse, UrlParams } from "@effect/platform"
import { Effect, Option, Schema } from "effect"
import type { PlatformFailure } from "../Platform.ts"
import { quoteBigIntegers } from "./BigIntegers.ts"
import { failure, FailureBody, failureOf } from "./Failures.ts"
import { type PlatformBConfig, userAgent } from "./PlatformBConfig.ts"
import type { SessionState } from "./SessionState.ts"

export interface Call {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  /** Sent url-encoded; `signed` wraps it as the modern signed body. */
  readonly form?: Readonly<Record<string, string>>
  readonly signed?: boolean
}

/** An answer with the session as the platform changed it. `body` has big integers as strings. */
export interface Reply {
  readonly state: SessionState
  readonly status: number
  readonly headers: HttpClientResponse.HttpClientResponse["headers"]
  readonly body: unknown
}

const limit = "15 seconds"

const Json = Schema.decode(Schema.parseJson(Schema.Unknown))
const Body = Schema.decodeUnknownOption(FailureBody)

const headersOf = (config: PlatformBConfig, state: SessionState): Record<string, string> => ({
  "user-agent": userAgent(config),
  "accept-language": config.locale.replace("_", "-"),
  "x-ig-app-id": config.appId,
  "x-ig-device-id": state.guid,
  "x-ig-android-id": state.deviceId,
  "x-ig-www-claim": state.claim,
  "x-bloks-version-id": config.bloksVersionId,
  ...(state.mid === null ? {} : { "x-mid": state.mid }),
  ...(state.authorization === null ? {} : { authorization: state.authorization })
})

const updated = (state: SessionState, headers: Reply["headers"]): SessionState => ({
  ...state,
  authorization: headers["ig-set-authorization"] ?? state.authorization,
  claim: headers["x-ig-set-www-claim"] ?? state.claim,
  mid: headers["ig-set-x-mid"] ?? state.mid
})

/** The one way to the platform: every call has 15 seconds, body included, and every failure is typed. */
export const makePrivateApi = (config: PlatformBConfig) =>
  Effect.map(HttpClient.HttpClient, (client) => {
    const exchange = Effect.fn("PrivateApi.exchange")(
      function* (state: SessionState, call: Call) {
        const form =
          call.signed === true ? { signed_body: `SIGNATURE.${JSON.stringify(call.form)}` } : (call.form ?? {})
        const request = HttpClientRequest.make(call.method)(`${config.baseUrl}${call.path}`).pipe(
          HttpClientRequest.setHeaders(headersOf(config, state)),
          HttpClientRequest.setUrlParams(call.query ?? {}),
          call.method === "POST" ? HttpClientRequest.bodyUrlParams(UrlParams.fromInput(form)) : (same) => same
        )
        const response = yield* client.execute(request)
        const body = yield* Effect.flatMap(response.text, (text) => Json(quoteBigIntegers(text)))
        const { headers, status } = response
        return { state: updated(state, headers), status, headers, body } satisfies Reply
      },
      Effect.timeout(limit),
      Effect.mapError(() => failure("unavailable", "the platform does not answer as it should")),
      Effect.withTracerEnabled(false)
    )

    /** A call that must succeed. */
    const call = Effect.fn("PrivateApi.call")(function* (state: SessionState, request: Call) {
      const reply = yield* exchange(state, request)
      const body = Option.getOrElse(Body(reply.body), (): FailureBody => ({}))
      if (reply.status >= 200 && reply.status < 300 && body.status !== "fail") return reply
      return yield* failureOf(reply.status, body, reply.headers["retry-after"])
    })

    return { exchange, call } as const
  })

export type PrivateApi = Effect.Effect.Success<ReturnType<typeof makePrivateApi>>

/** The answer in the shape that the driver expects; another shape is a platform that does not answer as it should. */
export const shaped =
  <A, I>(schema: Schema.Schema<A, I>) =>
  (reply: Reply): Effect.Effect<A, PlatformFailure> =>
    Schema.decodeUnknown(schema)(reply.body).pipe(
      Effect.mapError(() => failure("unavailable", "an answer of the platform has another shape"))
    )
