import { randomUUID } from "node:crypto"
import { Effect, Redacted, Schema } from "effect"
import type { PlatformFailure, Session } from "../Platform.ts"
import { failure } from "./Failures.ts"

const Pending = Schema.Union(
  Schema.TaggedStruct("TwoFactor", { username: Schema.String, identifier: Schema.String, method: Schema.String }),
  Schema.TaggedStruct("Challenge", { apiPath: Schema.String, page: Schema.String })
)

/** What the driver keeps of a login: device ids made once, the platform's tokens, and a login that is half done. */
export const SessionState = Schema.Struct({
  guid: Schema.String,
  phoneId: Schema.String,
  deviceId: Schema.String,
  authorization: Schema.NullOr(Schema.String),
  claim: Schema.String,
  mid: Schema.NullOr(Schema.String),
  region: Schema.optionalWith(Schema.NullOr(Schema.String), { default: () => null }),
  userId: Schema.NullOr(Schema.String),
  username: Schema.NullOr(Schema.String),
  pending: Schema.NullOr(Pending)
})
export type SessionState = typeof SessionState.Type

const Text = Schema.parseJson(SessionState)
const write = Schema.encodeSync(Text)

/** A device that the platform has not seen yet. */
export const fresh: Effect.Effect<SessionState> = Effect.sync(() => ({
  guid: randomUUID(),
  phoneId: randomUUID(),
  deviceId: `android-${randomUUID().replaceAll("-", "").slice(0, 16)}`,
  authorization: null,
  claim: "0",
  mid: null,
  region: null,
  userId: null,
  username: null,
  pending: null
}))

/** The same device without anything of a login. */
export const loggedOut = ({ deviceId, guid, mid, phoneId }: SessionState): SessionState => ({
  guid,
  phoneId,
  deviceId,
  mid,
  authorization: null,
  claim: "0",
  region: null,
  userId: null,
  username: null,
  pending: null
})

export const seal = (state: SessionState): Session => Redacted.make(write(state))

/** States as they were last read, for as long as somebody holds the session. */
const known = new WeakMap<Session, SessionState>()

export const unseal = (session: Session): Effect.Effect<SessionState, PlatformFailure> =>
  Effect.suspend(() => {
    const state = known.get(session)
    if (state !== undefined) return Effect.succeed(state)
    return Schema.decode(Text)(Redacted.value(session)).pipe(
      Effect.mapError(() => failure("session_expired", "the session is not readable")),
      Effect.tap((read) => Effect.sync(() => known.set(session, read)))
    )
  })
