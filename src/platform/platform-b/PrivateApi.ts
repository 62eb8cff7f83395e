import { HttpClient, HttpClientRequest, type HttpClientResponse, UrlParams } from "@effect/platform"
import { randomUUID } from "node:crypto"
import { Clock, Effect, Option, Predicate, Ref, Schema } from "effect"
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

/** An answer; `body` has big integers as text, and is `{}` where an unsuccessful answer was no JSON. */
export interface Reply {
  readonly status: number
  readonly headers: HttpClientResponse.HttpClientResponse["headers"]
  readonly body: unknown
}

/**
 * The one way to the platform, for one session: every call has 15 seconds, body included, every failure is typed, and
 * what the platform changes in the session goes into the next call.
 */
export interface Line {
  /** Any answer, also an unsuccessful one. */
  readonly exchange: (call: Call) => Effect.Effect<Reply, PlatformFailure>
  /** A call that must succeed. */
  readonly call: (call: Call) => Effect.Effect<Reply, PlatformFailure>
  readonly state: Ref.Ref<SessionState>
}

const limit = "15 seconds"

const Json = Schema.decodeOption(Schema.parseJson(Schema.Unknown))
const Form = Schema.encodeSync(Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.String })))
const Body = Schema.decodeUnknownOption(FailureBody)
const emptyBody = Schema.decodeSync(FailureBody)({})

const given = (name: string, value: string | null) => (value === null ? {} : { [name]: value })

const headersOf = (config: PlatformBConfig, state: SessionState): Record<string, string> => ({
  "user-agent": userAgent(config),
  "accept-language": config.locale.replace("_", "-"),
  "x-ig-app-id": config.appId,
  "x-ig-app-locale": config.locale,
  "x-ig-device-locale": config.locale,
  "x-ig-mapped-locale": config.locale,
  "x-ig-device-id": state.guid,
  "x-ig-family-device-id": state.phoneId,
  "x-ig-android-id": state.deviceId,
  "x-ig-www-claim": state.claim,
  "x-bloks-version-id": config.bloksVersionId,
  ...given("x-mid", state.mid),
  ...given("ig-u-rur", state.region),
  ...given("ig-u-ds-user-id", state.userId),
  "ig-intended-user-id": state.userId ?? "0",
  ...given("authorization", state.authorization)
})

/** The very same state when the platform changed nothing in it. */
const updated = (state: SessionState, headers: Reply["headers"]): SessionState => {
  const authorization = headers["ig-set-authorization"] ?? state.authorization
  const claim = headers["x-ig-set-www-claim"] ?? state.claim
  const mid = headers["ig-set-x-mid"] ?? state.mid
  const region = headers["ig-set-ig-u-rur"] ?? state.region
  const isSame =
    authorization === state.authorization && claim === state.claim && mid === state.mid && region === state.region
  return isSame ? state : { ...state, authorization, claim, mid, region }
}

const isSuccess = (status: number) => status >= 200 && status < 300

export const failureIn = ({ body, headers, status }: Reply): PlatformFailure =>
  failureOf(
    status,
    Option.getOrElse(Body(body), () => emptyBody),
    headers["retry-after"]
  )

export const makePrivateApi = (config: PlatformBConfig) =>
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    const baseUrl = config.baseUrl.replace(/\/+$/, "")
    const pigeon = { "x-pigeon-session-id": `UFS-${yield* Effect.sync(() => randomUUID())}-0` }

    const request = (state: SessionState, call: Call, now: number) => {
      const plain = call.form ?? {}
      const form = call.signed === true ? { signed_body: `SIGNATURE.${Form(plain)}` } : plain
      const bare = HttpClientRequest.make(call.method)(`${baseUrl}${call.path}`).pipe(
        HttpClientRequest.setHeaders({ ...headersOf(config, state), ...pigeon }),
        HttpClientRequest.setHeader("x-pigeon-rawclienttime", (now / 1000).toFixed(3)),
        HttpClientRequest.setUrlParams(call.query ?? {})
      )
      return call.method === "POST" ? HttpClientRequest.bodyUrlParams(bare, UrlParams.fromInput(form)) : bare
    }

    const open = Effect.fn("PrivateApi.open")(function* (initial: SessionState) {
      const state = yield* Ref.make(initial)

      const exchange = Effect.fn("PrivateApi.exchange")(
        function* (call: Call) {
          const now = yield* Clock.currentTimeMillis
          const response = yield* client.execute(request(yield* state, call, now))
          const text = yield* response.text
          yield* Ref.update(state, (before) => updated(before, response.headers))
          return { status: response.status, headers: response.headers, text }
        },
        Effect.mapError(() => failure("unavailable", "the platform cannot be reached")),
        Effect.timeoutFail({
          duration: limit,
          onTimeout: () => failure("unavailable", "the platform did not answer in time")
        }),
        Effect.withTracerEnabled(false),
        Effect.flatMap(({ headers, status, text }) =>
          Option.match(Json(quoteBigIntegers(text)), {
            onSome: (body) => Effect.succeed<Reply>({ status, headers, body }),
            onNone: () =>
              isSuccess(status)
                ? Effect.fail(failure("unavailable", "the platform answered without JSON"))
                : Effect.succeed<Reply>({ status, headers, body: {} })
          })
        )
      )

      const call = Effect.fn("PrivateApi.call")(function* (request: Call) {
        const reply = yield* exchange(request)
        const isRefused = Predicate.hasProperty(reply.body, "status") && reply.body.status === "fail"
        return isSuccess(reply.status) && !isRefused ? reply : yield* failureIn(reply)
      })

      return { exchange, call, state } satisfies Line
    })

    return { open, baseUrl } as const
  })

export type PrivateApi = Effect.Effect.Success<ReturnType<typeof makePrivateApi>>

/** The answer in the shape that the driver expects; another shape is a platform that does not answer as it should. */
export const shaped =
  <A, I>(schema: Schema.Schema<A, I>) =>
  (reply: Reply): Effect.Effect<A, PlatformFailure> =>
    Effect.mapError(Schema.decodeUnknown(schema)(reply.body), () =>
      failure("unavailable", "an answer of the platform has another shape")
    )
