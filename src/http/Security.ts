import { HttpApi, HttpRouter } from "@effect/platform"
import { Context, Effect, Layer, Metric, Option, Redacted } from "effect"
import { ManagementApi } from "../api/ManagementApi.ts"
import { Forbidden, Unauthenticated } from "../api/Problem.ts"
import { AccessTokenAuth, AppKeyAuth, ChannelTokenAuth, OperatorAuth, Requires } from "../api/Security.ts"
import { Apps } from "../catalog/Apps.ts"
import { Channels } from "../channel/Channels.ts"
import { AccessTokens } from "../identity/AccessTokens.ts"
import { leaveTrail } from "../identity/AuditLog.ts"
import { allows } from "../identity/domain/Ability.ts"
import type { Requirement } from "../identity/domain/User.ts"
import { OperatorTokens } from "../identity/OperatorTokens.ts"
import { securityEvents } from "../Metrics.ts"

const refuse = (credential: string) =>
  Metric.increment(Metric.tagged(securityEvents, "kind", `refused_${credential}`)).pipe(
    Effect.zipRight(new Unauthenticated({ message: "Unauthenticated." }))
  )

const requirements = (): ReadonlyMap<string, Requirement> => {
  const table = new Map<string, Requirement>()
  HttpApi.reflect(ManagementApi, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint }) => {
      const requirement = Context.getOption(endpoint.annotations, Requires)
      if (Option.isSome(requirement)) table.set(`${endpoint.method} ${endpoint.path}`, requirement.value)
    }
  })
  return table
}

/** A user's own affairs (`/auth/*`) ask for no ability. */
const noRequirement: Requirement = { ability: "*", role: "viewer" }

const accessTokens = Layer.effect(
  AccessTokenAuth,
  Effect.gen(function* () {
    const tokens = yield* AccessTokens
    const byRoute = requirements()
    return AccessTokenAuth.of({
      accessToken: (token) =>
        Effect.gen(function* () {
          const record = yield* tokens.authenticate(token)
          if (Option.isNone(record)) return yield* refuse("access_token")
          const { route } = yield* HttpRouter.RouteContext
          const { ability, role } = byRoute.get(`${route.method} ${route.path}`) ?? noRequirement
          const { abilities, id, userId } = record.value
          if (ability !== "*" && !allows(abilities, ability)) {
            return yield* new Forbidden({ message: `The token lacks the ability ${ability}.` })
          }
          yield* leaveTrail({ caller: Option.some({ userId, tokenId: id }) })
          return { userId, tokenId: id, abilities, role }
        })
    })
  })
)

const appKeys = Layer.effect(
  AppKeyAuth,
  Effect.gen(function* () {
    const apps = yield* Apps
    return AppKeyAuth.of({
      appPublicKey: (key) =>
        Effect.gen(function* () {
          const app = yield* apps.byPublicKey(Redacted.value(key))
          if (Option.isNone(app)) return yield* refuse("app_key")
          if (app.value.status !== "active") return yield* new Forbidden({ message: `The app is ${app.value.status}.` })
          return app.value
        })
    })
  })
)

const operators = Layer.effect(
  OperatorAuth,
  Effect.gen(function* () {
    const tokens = yield* OperatorTokens
    return OperatorAuth.of({
      operatorToken: (token) =>
        Effect.flatMap(
          tokens.authenticate(token),
          Option.match({ onNone: () => refuse("operator_token"), onSome: Effect.succeed })
        )
    })
  })
)

const channels = Layer.effect(
  ChannelTokenAuth,
  Effect.gen(function* () {
    const accounts = yield* Channels
    return ChannelTokenAuth.of({
      channelToken: (token) =>
        Effect.flatMap(
          accounts.authenticate(token),
          Option.match({ onNone: () => refuse("channel_token"), onSome: Effect.succeed })
        )
    })
  })
)

/** The four credentials as typed middleware: who may call what is declared at the endpoint. */
export const layer = Layer.mergeAll(accessTokens, appKeys, operators, channels)
