import { randomUUID } from "node:crypto"
import { Clock, Duration, Effect, Option, Predicate, Ref, Schema } from "effect"
import { type Incoming, makeHttpExchange, type Unanswered } from "../../kit/HttpExchange.ts"
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

/**
 * An answer. `rough` is its JSON with the big integers as JavaScript misreads them, good enough for a glance; `body` has
 * them as text. Both are `{}` where an unsuccessful answer was no JSON.
 */
export interface Reply {
  readonly status: number
  readonly headers: Incoming["headers"]
  readonly rough: unknown
  readonly body: () => unknown
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

const longestAnswer = 32 * 1024 * 1024
/** A call and its answer, from the first byte to the last. */
const timeout = Duration.seconds(15)

const unanswered: { readonly [why in Unanswered]: string } = {
  unreachable: "the platform cannot be reached",
  "broken off": "an answer of the platform broke off",
  "too late": "the platform did not answer in time"
}

const isSuccess = (status: number) => status >= 200 && status < 300

const empty = () => ({})

const exactly = (text: string) => Option.getOrElse(Json(quoteBigIntegers(text)), empty)

/** Most answers are only glanced at: the big integers of the others are looked for when somebody reads them. */
const read = ({ headers, isWhole, status, text }: Incoming): Effect.Effect<Reply, PlatformFailure> => {
  if (!isWhole) return Effect.fail(failure("unavailable", "an answer of the platform is too long"))
  return Option.match(Json(text), {
    onSome: (rough) => Effect.succeed({ status, headers, rough, body: () => exactly(text) }),
    onNone: () =>
      isSuccess(status)
        ? Effect.fail(failure("unavailable", "the platform answered without JSON"))
        : Effect.succeed({ status, headers, rough: {}, body: empty })
  })
}

export const failureIn = ({ body, headers, status }: Reply): PlatformFailure =>
  failureOf(
    status,
    Option.getOrElse(Body(body()), () => emptyBody),
    headers["retry-after"]
  )

const accepted = (reply: Reply): Effect.Effect<Reply, PlatformFailure> => {
  const isRefused = Predicate.hasProperty(reply.rough, "status") && reply.rough.status === "fail"
  return isSuccess(reply.status) && !isRefused ? Effect.succeed(reply) : failureIn(reply)
}

const withQuery = (path: string, query: Call["query"]) =>
  query === undefined ? path : `${path}?${new URLSearchParams(query)}`

const formOf = ({ form = {}, method, signed }: Call) => {
  if (method === "GET") return null
  return `${new URLSearchParams(signed === true ? { signed_body: `SIGNATURE.${Form(form)}` } : form)}`
}

export const makePrivateApi = Effect.fn("PrivateApi.make")(function* (config: PlatformBConfig) {
  const base = new URL(config.baseUrl)
  const baseUrl = config.baseUrl.replace(/\/+$/, "")
  const prefix = base.pathname.replace(/\/+$/, "")
  const exchangeRaw = yield* makeHttpExchange(longestAnswer)
  const pigeon = `UFS-${yield* Effect.sync(() => randomUUID())}-0`

  const outgoing = (state: SessionState, call: Call, now: number) => {
    const form = formOf(call)
    return {
      origin: base.origin,
      method: call.method,
      path: withQuery(`${prefix}${call.path}`, call.query),
      headers: {
        ...headersOf(config, state),
        "x-pigeon-session-id": pigeon,
        "x-pigeon-rawclienttime": (now / 1000).toFixed(3),
        ...(form === null ? {} : { "content-type": "application/x-www-form-urlencoded" })
      },
      body: form,
      timeout
    }
  }

  const open = (initial: SessionState) =>
    Effect.map(Ref.make(initial), (state): Line => {
      const exchange = (call: Call) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          Effect.flatMap(state, (before) =>
            Effect.matchEffect(exchangeRaw(outgoing(before, call, now)), {
              onFailure: (why) => Effect.fail(failure("unavailable", unanswered[why])),
              onSuccess: (incoming) =>
                Effect.zipRight(
                  Ref.update(state, (held) => updated(held, incoming.headers)),
                  read(incoming)
                )
            })
          )
        )
      return { exchange, call: (call) => Effect.flatMap(exchange(call), accepted), state }
    })

  return { open, baseUrl } as const
})

export type PrivateApi = Effect.Effect.Success<ReturnType<typeof makePrivateApi>>

/** The answer in the shape that the driver expects; another shape is a platform that does not answer as it should. */
export const shaped =
  <A, I>(schema: Schema.Schema<A, I>) =>
  (reply: Reply): Effect.Effect<A, PlatformFailure> =>
    Effect.mapError(Schema.decodeUnknown(schema)(reply.body()), () =>
      failure("unavailable", "an answer of the platform has another shape")
    )
