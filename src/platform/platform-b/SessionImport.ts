import { Effect, Option, Redacted, Schema } from "effect"
import { LoginStep, type Session } from "../Platform.ts"
import { failure } from "./Failures.ts"
import { Id } from "./Fields.ts"
import { type PrivateApi, shaped } from "./PrivateApi.ts"
import { fresh, loggedOut, seal, unseal } from "./SessionState.ts"

const CurrentUser = Schema.Struct({ user: Schema.Struct({ pk: Id, username: Schema.String }) })

const prefix = "Bearer IGT:2:"
const Claims = Schema.parseJson(
  Schema.Struct({
    ds_user_id: Schema.String.pipe(Schema.pattern(/^\d{1,20}$/)),
    sessionid: Schema.NonEmptyString,
    should_use_header_over_cookies: Schema.optional(Schema.Boolean)
  })
)
const read = Schema.decodeOption(Schema.compose(Schema.StringFromBase64, Claims))
const write = Schema.encodeSync(Schema.compose(Schema.StringFromBase64, Claims))

/** The cookie begins with the user's id. */
const fromCookie = (sessionid: string) =>
  Option.map(Option.fromNullable(/^(\d{1,20})(?::|%3A)[\w:%-]{1,512}$/i.exec(sessionid)), ([, id = ""]) => ({
    userId: id,
    authorization: `${prefix}${write({
      ds_user_id: id,
      sessionid: sessionid.replaceAll(":", "%3A"),
      should_use_header_over_cookies: true
    })}`
  }))

const fromHeader = (header: string) =>
  header.startsWith(prefix)
    ? Option.map(read(header.slice(prefix.length)), ({ ds_user_id: userId }) => ({ userId, authorization: header }))
    : Option.none()

/**
 * Goes on with a session that was opened elsewhere, for logins that no client can finish: `text` is the app's
 * `Authorization` header or the `sessionid` cookie of the web. The platform is asked whose it is.
 */
export const makeSessionImport = (api: PrivateApi) =>
  Effect.fn("PlatformBDriver.importSession")(function* (input: {
    readonly text: Redacted.Redacted<string>
    readonly pending: Option.Option<Session>
  }) {
    const text = Redacted.value(input.text).trim()
    const given = Option.orElse(fromHeader(text), () => fromCookie(text))
    if (Option.isNone(given)) return yield* failure("session_expired", "neither a header nor a cookie of a session")
    const known = yield* Effect.option(Effect.flatMap(input.pending, unseal))
    const device = Option.isSome(known) ? loggedOut(known.value) : yield* fresh
    const line = yield* api.open({ ...device, ...given.value })
    const reply = yield* line.call({ method: "GET", path: "/api/v1/accounts/current_user/", query: { edit: "true" } })
    const { user } = yield* shaped(CurrentUser)(reply)
    const state = { ...(yield* line.state), userId: user.pk, username: user.username }
    return LoginStep.Connected({ session: seal(state), username: user.username })
  })
