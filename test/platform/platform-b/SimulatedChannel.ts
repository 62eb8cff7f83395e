import { Effect, Option, Redacted } from "effect"
import { PlatformB, type Session } from "../../../src/platform/Platform.ts"
import { type Answer, call } from "../../support/Api.ts"
import { platformBSide } from "../../support/PlatformBSide.ts"

export interface Account {
  readonly username: string
  readonly password: string
}

export const credentialsOf = ({ password, username }: Account) => ({ username, password: Redacted.make(password) })

/** The same session after a restart: only its text survived. */
export const restarted = (session: Session): Session =>
  Redacted.make(JSON.stringify(JSON.parse(Redacted.value(session))))

export const login = (account: Account, more: { readonly pending?: Session; readonly code?: string } = {}) =>
  Effect.flatMap(PlatformB, (platform) =>
    platform.login({
      credentials: credentialsOf(account),
      pending: Option.fromNullable(more.pending),
      verificationCode: Option.map(Option.fromNullable(more.code), Redacted.make)
    })
  )

export const answerChallenge = (account: Account, pending: Session, code: string) =>
  Effect.flatMap(PlatformB, (platform) =>
    platform.answerChallenge({ credentials: credentialsOf(account), pending, code: Redacted.make(code) })
  )

/** A simulator of its own with its control API, and the driver pointed at it for what `use` does. */
export const withSimulator = <A, E>(
  use: (simulator: {
    readonly url: string
    readonly control: (path: string, body: unknown) => Effect.Effect<Answer>
    readonly look: (path: string) => Effect.Effect<Answer["body"]>
    readonly account: (more?: object) => Effect.Effect<Account>
    readonly write: (message: object) => Effect.Effect<void>
  }) => Effect.Effect<A, E, PlatformB>
) =>
  Effect.scoped(
    Effect.flatMap(platformBSide, ({ control, driver, url }) => {
      let count = 0
      const account = (more: object = {}) => {
        const created = { username: `channel${++count}`, password: "pass-of-the-channel" }
        return Effect.as(control("/accounts", { ...created, ...more }), created)
      }
      const look = (path: string) => Effect.map(call("GET", `${url}/_control${path}`), ({ body }) => body)
      const write = (message: object) => Effect.asVoid(control("/messages", message))
      return Effect.provide(use({ url, control, look, account, write }), driver)
    })
  )

/** The reason of the failure that must come. */
export const reasonOf = <A, R>(effect: Effect.Effect<A, { readonly reason: string }, R>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason)
