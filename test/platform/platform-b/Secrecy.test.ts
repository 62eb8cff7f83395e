import { inspect } from "node:util"
import { assert, it } from "@effect/vitest"
import { Cause, Effect, Exit, Logger, LogLevel, Option, Redacted } from "effect"
import { PlatformB } from "../../../src/platform/Platform.ts"
import { answerChallenge, login, withSimulator } from "./SimulatedChannel.ts"

const password = "pw-7f3a91c2"
const code = "code-55aa66bb"
const text = "text-of-a-person"

/** Everything that a failing call tells, and what is logged meanwhile. */
const told = <A, E, R>(
  use: (tell: <B, F, S>(effect: Effect.Effect<B, F, S>) => Effect.Effect<void, never, S>) => Effect.Effect<A, E, R>
) => {
  const lines: Array<string> = []
  const logger = Logger.make(({ annotations, cause, message }) => {
    lines.push(inspect([message, [...annotations], Cause.pretty(cause)], { depth: 12 }))
  })
  const tell = <B, F, S>(effect: Effect.Effect<B, F, S>) =>
    Effect.map(Effect.exit(effect), (exit) => {
      assert.isTrue(Exit.isFailure(exit), inspect(exit))
      if (Exit.isFailure(exit))
        lines.push(inspect(exit.cause, { depth: 12 }), JSON.stringify(exit), Cause.pretty(exit.cause))
    })
  return use(tell).pipe(
    Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
    Logger.withMinimumLogLevel(LogLevel.All),
    Effect.as(lines)
  )
}

it.live("no failure and no log line tells a password, a code, a session or a text", () =>
  Effect.gen(function* () {
    const sessions: Array<string> = []
    const lines = yield* told((tell) =>
      withSimulator(({ account, control }) =>
        Effect.gen(function* () {
          const platform = yield* PlatformB
          const said = `${password} ${code} ${text}`
          const echoes = [
            { status: 400, body: { message: said } },
            { status: 500, body: { message: said, error_type: code } },
            { status: 429, body: { message: said } },
            { status: 400, body: { error_type: "bad_password", message: said } },
            { status: 400, body: { message: said, checkpoint_url: `https://x/${said}` } }
          ]
          const plain = { ...(yield* account({ password })), password }
          const { session } = yield* login(plain)
          sessions.push(JSON.parse(Redacted.value(session)).authorization)

          yield* tell(login({ ...plain, password: `${password}x` }))
          yield* tell(login({ username: "nobody", password }))
          for (const answer of [...echoes, { kind: "reset" }, { status: 500, raw: password }]) {
            yield* control("/failures", { path: "/launcher/sync/", ...answer })
            yield* tell(login(plain))
          }
          const factor = { ...(yield* account({ password, two_factor_code: "1" })), password }
          const asked = yield* login(factor)
          yield* tell(login(factor, { pending: asked.session, code }))
          const challenged = { ...(yield* account({ password, challenge_code: "1" })), password }
          const challenge = yield* login(challenged)
          yield* tell(answerChallenge(challenged, challenge.session, code))
          yield* tell(answerChallenge(challenged, session, code))
          for (const answer of [...echoes, { status: 200, body: { message: text } }, { kind: "reset" }]) {
            yield* control("/failures", { path: "/direct_v2/", ...answer, times: 2 })
            yield* tell(platform.poll(session, Option.none()))
            yield* tell(platform.send(session, { to: "pb:17000", body: text, clientId: "c" }))
          }
          yield* tell(platform.poll(Redacted.make(`{"authorization":"${password}"}`), Option.none()))
        })
      )
    )
    assert.isAbove(lines.length, 40)
    const all = lines.join("\n")
    for (const secret of [password, code, text, ...sessions, "Bearer", "PWD_INSTAGRAM"]) assert.notInclude(all, secret)
  })
)
