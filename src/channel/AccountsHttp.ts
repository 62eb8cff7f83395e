import { HttpApiBuilder, HttpServerResponse } from "@effect/platform"
import { DateTime, Effect, Option, Redacted } from "effect"
import { toBuffer } from "qrcode"
import * as Problem from "../api/Problem.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import type { PlatformFailure } from "../platform/Platform.ts"
import { channelOfPath } from "./CallerChannelHttp.ts"
import { Channels } from "./Channels.ts"
import { accountItem, type Channel } from "./domain/Channel.ts"
import { Linking, type LinkState } from "./Linking.ts"

const stateItem = (channel: Channel) => ({
  data: {
    status: channel.status,
    username: Option.getOrNull(channel.username),
    last_error: Option.getOrNull(channel.lastError)
  }
})

const linkItem = ({ channel, shown }: LinkState) => ({
  data: {
    ...stateItem(channel).data,
    ...Option.match(shown, {
      onNone: () => ({}),
      onSome: ({ as, expiresAt, secret }) => ({
        [as]: Redacted.value(secret),
        [`${as}_expires_at`]: DateTime.formatIso(expiresAt)
      })
    })
  }
})

const wantsPicture = (accept: string | undefined): boolean => accept?.includes("image/png") === true

const picture = (qr: Redacted.Redacted<string>) =>
  Effect.promise(() => toBuffer(Redacted.value(qr), { type: "png", margin: 2, width: 512 }))

const invalid = (field: string, sentence: string) =>
  new Problem.Invalid({ message: "The platform refused what was given.", errors: { [field]: [sentence] } })

type LoginProblem = Exclude<Problem.Problem, Problem.BadRequest | Problem.Forbidden>

/** A platform's refusal as the contract words it: wrong password 401, wrong code 422, rate limit 429, else a gateway error. */
const loginProblem =
  (codeField: string) =>
  (failure: PlatformFailure): LoginProblem => {
    switch (failure.reason) {
      case "bad_password":
        return new Problem.Unauthenticated({
          message: "The platform refused the login.",
          errors: { password: ["is wrong"] }
        })
      case "unknown_user":
        return invalid("username", "names nobody on the platform")
      case "session_expired":
      case "logged_out":
        return invalid("session", "has ended, or is none")
      case "wrong_code":
        return invalid(codeField, "is wrong")
      case "rate_limited":
        return new Problem.TooMany({
          message: "The platform asks to wait.",
          retryAfter: Math.ceil(Option.getOrElse(failure.retryAfter, () => 300))
        })
      case "unavailable":
        return new Problem.Unavailable({ message: "The platform does not answer.", retryAfter: 20 })
      default:
        return new Problem.BadGateway({ message: `The platform refused the login: ${failure.detail}.` })
    }
  }

const noSuchAccount = () => new Problem.NotFound({ message: "No such account." })

const driverMissing = new Problem.Unavailable({
  message: "The optional package baileys, which speaks the protocol of platform_a, is not installed.",
  retryAfter: 3600
})

/** None when neither is given: the session that was kept goes on. */
const credentialsOf = ({
  password,
  username
}: {
  readonly password?: Redacted.Redacted<string> | undefined
  readonly username?: string | undefined
}) => Option.all({ username: Option.fromNullable(username), password: Option.fromNullable(password) })

const loginProblems = (codeField: string) => ({
  ChannelNotFound: () => Effect.fail<LoginProblem>(noSuchAccount()),
  ChannelStateForbids: ({ message }: { readonly message: string }) =>
    Effect.fail<LoginProblem>(new Problem.Conflict({ message })),
  TooManyLogins: ({ nextAt }: { readonly nextAt: DateTime.Utc }) =>
    Effect.flatMap(DateTime.now, (now) =>
      Effect.fail<LoginProblem>(
        new Problem.TooMany({
          message: "Too many logins or codes without a success: the platform would take more for an attack.",
          retryAfter: Math.max(1, Math.ceil(DateTime.distance(now, nextAt) / 1000))
        })
      )
    ),
  PlatformFailure: (failure: PlatformFailure) => Effect.fail<LoginProblem>(loginProblem(codeField)(failure))
})

export const AccountsHttp = HttpApiBuilder.group(ServiceApi, "accounts", (handlers) =>
  Effect.gen(function* () {
    const channels = yield* Channels
    const linking = yield* Linking

    return handlers
      .handle("createAccount", ({ payload }) =>
        Effect.map(channels.create(payload.name, payload.platform), ({ channel, token }) => ({
          data: {
            id: channel.id,
            name: channel.name,
            platform: channel.platform,
            status: channel.status,
            token,
            created_at: DateTime.formatIso(channel.createdAt)
          }
        }))
      )
      .handle("listAccounts", ({ urlParams }) =>
        Effect.gen(function* () {
          const page = yield* pageOf(urlParams)
          const now = yield* DateTime.now
          const rows = yield* channels.page(page)
          return pageAnswer(
            rows,
            page.limit,
            ({ id }) => id,
            (channel) => accountItem(channel, now)
          )
        })
      )
      .handle("getAccount", ({ path }) =>
        Effect.zipWith(channelOfPath(path.id), DateTime.now, (channel, now) => ({ data: accountItem(channel, now) }))
      )
      .handle("updateAccount", ({ path, payload }) =>
        Effect.gen(function* () {
          const channel = yield* channelOfPath(path.id)
          const renamed = payload.name === undefined ? channel : yield* channels.rename(channel, payload.name)
          return { data: accountItem(renamed, yield* DateTime.now) }
        })
      )
      .handle("deleteAccount", ({ path }) =>
        Effect.gen(function* () {
          const channel = yield* channelOfPath(path.id)
          if (channel.platform === "platform_a") yield* linking.logout(channel.id)
          yield* channels.remove(channel)
          return { data: { uuid: channel.id, deleted: true as const } }
        }).pipe(Effect.catchTag("ChannelNotFound", noSuchAccount))
      )
      .handle("connectAccount", ({ path, payload }) =>
        Effect.gen(function* () {
          const channel = yield* channels.byId(path.id)
          if (channel.platform === "platform_a") {
            const state = yield* linking.connect(channel, Option.fromNullable(payload.phone_number))
            if (Option.contains(state.channel.lastError, "driver_missing")) return yield* driverMissing
            return linkItem(state)
          }
          if (payload.session !== undefined) return stateItem(yield* channels.importSession(path.id, payload.session))
          const connected = Option.match(credentialsOf(payload), {
            onNone: () => channels.resume(path.id),
            onSome: (credentials) =>
              channels.connect(path.id, credentials, Option.fromNullable(payload.verification_code))
          })
          return stateItem(yield* connected)
        }).pipe(Effect.catchTags(loginProblems("verification_code")))
      )
      .handle("showQr", ({ path, request }) =>
        Effect.gen(function* () {
          const state = yield* linking.shown(path.id)
          const qr = Option.filter(state.shown, ({ as }) => as === "qr")
          if (Option.isNone(qr) || !wantsPicture(request.headers["accept"])) return linkItem(state)
          return HttpServerResponse.uint8Array(yield* picture(qr.value.secret), { contentType: "image/png" })
        }).pipe(
          Effect.catchTags({
            ChannelNotFound: () => new Problem.NotFound({ message: "No such account." }),
            ChannelStateForbids: ({ message }) => new Problem.Conflict({ message })
          })
        )
      )
      .handle("answerChallenge", ({ path, payload }) =>
        channels
          .answerChallenge(path.id, payload, payload.code)
          .pipe(Effect.map(stateItem), Effect.catchTags(loginProblems("code")))
      )
      .handle("disconnectAccount", ({ path }) =>
        channels.disconnect(path.id).pipe(Effect.map(stateItem), Effect.catchTag("ChannelNotFound", noSuchAccount))
      )
      .handle("logoutAccount", ({ path }) =>
        Effect.gen(function* () {
          const { platform } = yield* channels.byId(path.id)
          return stateItem(yield* platform === "platform_a" ? linking.logout(path.id) : channels.logout(path.id))
        }).pipe(Effect.catchTag("ChannelNotFound", noSuchAccount))
      )
      .handle("rotateToken", ({ path }) =>
        Effect.gen(function* () {
          const channel = yield* channelOfPath(path.id)
          return { data: { id: channel.id, token: yield* channels.rotateToken(channel) } }
        })
      )
      .handle("getPacing", ({ path }) => Effect.map(channelOfPath(path.id), ({ paces }) => ({ data: paces })))
      .handle("putPacing", ({ path, payload }) =>
        Effect.gen(function* () {
          yield* channels.putPacing(yield* channelOfPath(path.id), payload)
          return { data: payload }
        })
      )
  })
)
