import { HttpApiBuilder } from "@effect/platform"
import { DateTime, Effect } from "effect"
import { Forbidden, TooMany, Unauthenticated } from "../api/Problem.ts"
import { CurrentOperator } from "../api/Security.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { Accounts } from "./Accounts.ts"
import { LoginThrottle } from "./LoginThrottle.ts"
import { OperatorTokens } from "./OperatorTokens.ts"

export const OperatorsHttp = HttpApiBuilder.group(ServiceApi, "operators", (handlers) =>
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const tokens = yield* OperatorTokens
    const throttle = yield* LoginThrottle

    return handlers
      .handle("operatorLogin", ({ payload, request }) =>
        Effect.gen(function* () {
          const source = { email: payload.email, address: request.remoteAddress }
          const user = yield* throttle.guard(source, accounts.login(payload.email, payload.password))
          if (!user.isOperator) return yield* new Forbidden({ message: "You are no operator of the gateway." })
          const { expiresAt, token } = yield* tokens.issue(user.id)
          return { data: { token, expires_at: DateTime.formatIso(expiresAt) } }
        }).pipe(
          Effect.catchTags({
            LoginRefused: () => new Unauthenticated({ message: "E-mail or password is wrong." }),
            LoginThrottled: ({ retryAfter }) => new TooMany({ message: "Too many failed logins.", retryAfter })
          })
        )
      )
      .handle("operatorLogout", () =>
        Effect.gen(function* () {
          const operator = yield* CurrentOperator
          yield* tokens.revoke(operator.tokenId)
          return { data: { revoked: true as const } }
        })
      )
  })
)
