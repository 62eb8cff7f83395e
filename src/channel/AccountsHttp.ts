import { HttpApiBuilder } from "@effect/platform"
import { DateTime, Effect, Option } from "effect"
import * as Problem from "../api/Problem.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import type { PlatformFailure } from "../platform/Platform.ts"
import { channelOfPath } from "./CallerChannelHttp.ts"
import { Channels } from "./Channels.ts"
import { accountItem, type Channel } from "./domain/Channel.ts"

const stateItem = (channel: Channel) => ({
  data: {
    status: channel.status,
    username: Option.getOrNull(channel.username),
    last_error: Option.getOrNull(channel.lastError)
  }
})

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

const loginProblems = (codeField: string) => ({
  ChannelNotFound: () => Effect.fail<LoginProblem>(new Problem.NotFound({ message: "No such account." })),
  ChannelStateForbids: ({ message }: { readonly message: string }) =>
    Effect.fail<LoginProblem>(new Problem.Conflict({ message })),
  PlatformFailure: (failure: PlatformFailure) => Effect.fail<LoginProblem>(loginProblem(codeField)(failure))
})

export const AccountsHttp = HttpApiBuilder.group(ServiceApi, "accounts", (handlers) =>
  Effect.gen(function* () {
    const channels = yield* Channels

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
          return pageAnswer(yield* channels.page(page), page.limit, ({ id }) => id, accountItem)
        })
      )
      .handle("getAccount", ({ path }) =>
        Effect.map(channelOfPath(path.id), (channel) => ({ data: accountItem(channel) }))
      )
      .handle("updateAccount", ({ path, payload }) =>
        Effect.gen(function* () {
          const channel = yield* channelOfPath(path.id)
          const renamed = payload.name === undefined ? channel : yield* channels.rename(channel, payload.name)
          return { data: accountItem(renamed) }
        })
      )
      .handle("deleteAccount", ({ path }) =>
        Effect.gen(function* () {
          const channel = yield* channelOfPath(path.id)
          yield* channels.remove(channel)
          return { data: { uuid: channel.id, deleted: true as const } }
        })
      )
      .handle("connectAccount", ({ path, payload }) =>
        channels
          .connect(path.id, payload, Option.fromNullable(payload.verification_code))
          .pipe(Effect.map(stateItem), Effect.catchTags(loginProblems("verification_code")))
      )
      .handle("answerChallenge", ({ path, payload }) =>
        channels
          .answerChallenge(path.id, payload, payload.code)
          .pipe(Effect.map(stateItem), Effect.catchTags(loginProblems("code")))
      )
      .handle("disconnectAccount", ({ path }) =>
        channels.disconnect(path.id).pipe(
          Effect.map(stateItem),
          Effect.catchTag("ChannelNotFound", () => new Problem.NotFound({ message: "No such account." }))
        )
      )
  })
)
