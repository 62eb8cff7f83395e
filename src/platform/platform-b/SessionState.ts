import { randomUUID } from "node:crypto"
import { Effect, Option, Redacted, Schema } from "effect"
import { PlatformFailure, type Session } from "../Platform.ts"

const Pending = Schema.Union(
  Schema.TaggedStruct("TwoFactor", { identifier: Schema.String, method: Schema.String }),
  Schema.TaggedStruct("Challenge", { apiPath: Schema.String })
)

/** What the driver keeps of a login: device ids made once, the platform's tokens, and a login that is half done. */
export const SessionState = Schema.Struct({
  guid: Schema.String,
  phoneId: Schema.String,
  deviceId: Schema.String,
  authorization: Schema.NullOr(Schema.String),
  claim: Schema.String,
  mid: Schema.NullOr(Schema.String),
  userId: Schema.NullOr(Schema.String),
  username: Schema.NullOr(Schema.String),
  pending: Schema.NullOr(Pending)
})
export type SessionState = typeof SessionState.Type

const Text = Schema.parseJson(SessionState)

export const fresh: Effect.Effect<SessionState> = Effect.sync(() => ({
  guid: randomUUID(),
  phoneId: randomUUID(),
  deviceId: `android-${randomUUID().replaceAll("-", "").slice(0, 16)}`,
  authorization: null,
  claim: "0",
  mid: null,
  userId: null,
  username: null,
  pending: null
}))

export const seal = (state: SessionState): Session => Redacted.make(Schema.encodeSync(Text)(state))

export const unseal = (session: Session): Effect.Effect<SessionState, PlatformFailure> =>
  Schema.decode(Text)(Redacted.value(session)).pipe(
    Effect.mapError(
      () =>
        new PlatformFailure({
          reason: "session_expired",
          detail: "the session is not readable",
          retryAfter: Option.none()
        })
    )
  )
