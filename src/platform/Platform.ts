import { Context, Data, type DateTime, type Effect, type Mailbox, type Option, type Redacted, type Scope } from "effect"
import type { PlatformEvent, SeenMessage } from "./domain/PlatformEvent.ts"

/** A driver's own serialised session. Opaque to everyone else, sealed at rest, never logged. */
export type Session = Redacted.Redacted<string>

export interface Credentials {
  readonly username: string
  readonly password: Redacted.Redacted<string>
}

/**
 * What a login call led to; every step carries the session to go on from.
 * - `TwoFactorRequired`: `login` again, with this session as `pending` and the code
 * - `ChallengeRequired`: `answerChallenge`; `contactPoint` is where the code went, as the platform obscures it
 * - `ManualActionRequired`: the owner goes on by hand on the platform's page `url`, then logs in again
 */
export type LoginStep = Data.TaggedEnum<{
  Connected: { readonly session: Session; readonly username: string }
  TwoFactorRequired: { readonly session: Session }
  ChallengeRequired: { readonly session: Session; readonly contactPoint: Option.Option<string> }
  ManualActionRequired: { readonly session: Session; readonly url: string }
}>
export const LoginStep = Data.taggedEnum<LoginStep>()

/**
 * Why the platform did not do what was asked.
 * - `bad_password`, `unknown_user`, `wrong_code`: the caller's input
 * - `text_too_long`: longer than the platform takes in one message; it was not asked
 * - `rate_limited`: 429 or "please wait"; `retryAfter` in seconds when the platform said so
 * - `action_blocked`: this action is frozen (spam, feedback required)
 * - `session_expired`, `logged_out`: the session is gone for good
 * - `banned`: the platform has disabled the account
 * - `challenge_required`: the platform wants the owner to prove himself
 * - `app_version_rejected`: constants of the driver are outdated
 * - `driver_missing`: the optional package that speaks the platform's protocol is not installed
 * - `unavailable`: network, time-out, 5xx, an answer that makes no sense: worth another try
 */
export class PlatformFailure extends Data.TaggedError("PlatformFailure")<{
  readonly reason:
    | "bad_password"
    | "unknown_user"
    | "wrong_code"
    | "text_too_long"
    | "rate_limited"
    | "action_blocked"
    | "session_expired"
    | "logged_out"
    | "banned"
    | "challenge_required"
    | "app_version_rejected"
    | "not_found"
    | "driver_missing"
    | "unavailable"
  readonly detail: string
  readonly retryAfter: Option.Option<number>
}> {}

/** What a poll found: messages oldest first, and where the next one goes on. The cursor is the driver's own text. */
export interface Polled {
  readonly session: Session
  readonly cursor: string
  readonly messages: ReadonlyArray<SeenMessage>
}

export interface SentMessage {
  readonly chatId: string
  readonly platformMessageId: string
  readonly timestamp: DateTime.Utc
}

/**
 * How messages leave, on any platform.
 * - `send` writes `clientId` on the platform with the message, or derives the platform's id from it, so that a repeat of
 *   the same send can be recognised
 * - `findSent` looks for an earlier send by its `clientId` before it is repeated after a crash; where the platform drops
 *   repeats by itself there is nothing to look for
 */
export interface Outlet {
  readonly send: (
    session: Session,
    message: { readonly to: string; readonly body: string; readonly clientId: string }
  ) => Effect.Effect<SentMessage, PlatformFailure>
  readonly findSent: (
    session: Session,
    message: { readonly chatId: string; readonly clientId: string }
  ) => Effect.Effect<Option.Option<SentMessage>, PlatformFailure>
}

/**
 * Port: a chat platform that is connected by credentials and polled (gateway specification, parts 3, 4 and 6).
 *
 * - `login` starts, or continues a second factor when `verificationCode` is present and `pending` is the session of the
 *   `TwoFactorRequired` step. Any earlier session of the channel may be given as `pending`: its device is used again, and
 *   one that can no longer be read counts as none. Passwords and codes are used once and kept nowhere.
 * - `importSession` goes on with a session that was opened elsewhere, in the words of the driver, for an account whose login
 *   needs a person.
 * - `answerChallenge` continues from the session of a `ChallengeRequired` step, also after a restart.
 * - `poll` without a cursor sets the baseline and reports nothing old.
 * - `send` addresses `pb:<thread_id>` or `pbuser:<username>`.
 */
export class PlatformB extends Context.Tag("gatehouse/platform/PlatformB")<
  PlatformB,
  {
    readonly login: (input: {
      readonly credentials: Credentials
      readonly pending: Option.Option<Session>
      readonly verificationCode: Option.Option<Redacted.Redacted<string>>
    }) => Effect.Effect<LoginStep, PlatformFailure>
    readonly importSession: (input: {
      readonly text: Redacted.Redacted<string>
      readonly pending: Option.Option<Session>
    }) => Effect.Effect<LoginStep, PlatformFailure>
    readonly answerChallenge: (input: {
      readonly credentials: Credentials
      readonly pending: Session
      readonly code: Redacted.Redacted<string>
    }) => Effect.Effect<LoginStep, PlatformFailure>
    readonly poll: (session: Session, cursor: Option.Option<string>) => Effect.Effect<Polled, PlatformFailure>
  } & Outlet
>() {}

/**
 * One open connection: `events` ends after `Closed`. It is closed with the scope that it was opened in.
 * - `stored` says how many more of the events are stored: what was not is told again by the next connection, although the
 *   platform has been told that we have it
 * - `typing` is there where the platform can show it
 */
export interface PushConnection {
  readonly events: Mailbox.ReadonlyMailbox<PlatformEvent>
  readonly stored: (events: number) => Effect.Effect<void>
  readonly send: (message: {
    readonly to: string
    readonly body: string
    readonly clientId: string
  }) => Effect.Effect<SentMessage, PlatformFailure>
  readonly typing: Option.Option<(chatId: string, isTyping: boolean) => Effect.Effect<void, PlatformFailure>>
}

export interface PushLogin {
  readonly channelId: string
  readonly phoneNumber: Option.Option<string>
  readonly sentText: (platformMessageId: string) => Effect.Effect<Option.Option<string>>
}

/**
 * Port: a chat platform that is linked to a phone and pushes (contract, part 4, "Accounts"). Sessions are many small keys
 * that change with every message, so the driver keeps them itself, sealed, under the id of the channel.
 *
 * - `connect` opens the session of a channel, or links a new one: `QrShown` follows, or `PairingCodeShown` when there is a
 *   phone number, then `Connected`. Whoever connects last owns the session; what an earlier owner writes is refused.
 * - `sentText` answers what we wrote in a message that somebody could not read, so that it is sent to him again.
 * - `unlink` takes the link back on the platform, as the owner does on the phone, by a connection of its own.
 * - `forget` destroys what is kept of the session; `isLinked` says whether there is one.
 * - `sentId` is the id that the platform will know a message by, before it is sent.
 */
export class PlatformA extends Context.Tag("gatehouse/platform/PlatformA")<
  PlatformA,
  {
    readonly connect: (login: PushLogin) => Effect.Effect<PushConnection, PlatformFailure, Scope.Scope>
    readonly unlink: (channelId: string) => Effect.Effect<void, PlatformFailure>
    readonly isLinked: (channelId: string) => Effect.Effect<boolean>
    readonly forget: (channelId: string) => Effect.Effect<void>
    readonly sentId: (clientId: string) => string
  }
>() {}
