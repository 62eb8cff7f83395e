import { Context, Effect, Layer, Option, Redacted } from "effect"
import { Apps } from "../catalog/Apps.ts"
import { Channels } from "../channel/Channels.ts"
import { AccessTokens } from "../identity/AccessTokens.ts"
import { OperatorTokens } from "../identity/OperatorTokens.ts"

const bearer = /^Bearer (.+)$/i

/** Whether what a request presents is still a credential, of whatever kind; a request without one presents nothing false. */
export class CredentialCheck extends Context.Tag("gatehouse/http/CredentialCheck")<
  CredentialCheck,
  { readonly areValid: (authorization: string | undefined) => Effect.Effect<boolean> }
>() {
  static readonly layer = Layer.effect(
    CredentialCheck,
    Effect.gen(function* () {
      const accessTokens = yield* AccessTokens
      const operatorTokens = yield* OperatorTokens
      const apps = yield* Apps
      const channels = yield* Channels

      const known = (text: string): Effect.Effect<Option.Option<unknown>> => {
        const token = Redacted.make(text)
        if (text.startsWith("gh_pat_")) return accessTokens.authenticate(token)
        if (text.startsWith("gh_ch_")) return channels.authenticate(token)
        if (text.startsWith("app_pk_")) return apps.byPublicKey(text)
        return operatorTokens.authenticate(token)
      }

      return CredentialCheck.of({
        areValid: (authorization) => {
          if (authorization === undefined) return Effect.succeed(true)
          const [, token] = bearer.exec(authorization) ?? []
          return token === undefined ? Effect.succeed(false) : Effect.map(known(token), Option.isSome)
        }
      })
    })
  )
}
