import { Context, Effect, Layer, Option, Redacted } from "effect"
import type { PlatformEvent } from "../../src/platform/domain/PlatformEvent.ts"
import { type LoginStep, PlatformB, type Session } from "../../src/platform/Platform.ts"
import { platformBSide as simulated } from "../support/PlatformBSide.ts"
import type { Line, PlatformSide } from "./EveryPlatform.ts"

const guess = "guess-of-a-thief"

/** The driver of platform_b with its simulator. */
export const platformBSide = Effect.gen(function* () {
  const { control, driver, side } = yield* simulated
  const shop = yield* side.account()
  const careful = yield* side.account({ twoFactorCode: "123456" })
  const challenged = yield* side.account({ challengeCode: "654321" })
  const written: Array<string> = []
  let session = Option.none<Session>()
  let cursor = Option.none<string>()

  const anew = <A, E>(use: (platform: typeof PlatformB.Service) => Effect.Effect<A, E>) =>
    Effect.provide(Effect.flatMap(PlatformB, use), Layer.fresh(driver))

  type Account = typeof shop
  const credentials = ({ password, username }: Account) => ({ username, password: Redacted.make(password) })
  const login = (account: Account, pending = Option.none<Session>(), code = Option.none<string>()) =>
    anew((platform) =>
      platform.login({ credentials: credentials(account), pending, verificationCode: Option.map(code, Redacted.make) })
    )
  const imported = (text: string) =>
    anew((platform) => platform.importSession({ text: Redacted.make(text), pending: Option.none() }))
  const elsewhere = Effect.map(control("/sessions", { username: shop.username }), ({ body }) => body)
  const stepsOf = (...steps: ReadonlyArray<LoginStep>) => steps.map(({ _tag }) => _tag)

  const open: PlatformSide["open"] = Effect.gen(function* () {
    const known = yield* Option.match(session, {
      onNone: () => Effect.map(login(shop), (step) => step.session),
      onSome: Effect.succeed
    })
    session = Option.some(Redacted.make(Redacted.value(known)))
    const line = Context.get(yield* Layer.build(Layer.fresh(driver)), PlatformB)
    const told: Array<PlatformEvent> = []
    const poll = Effect.gen(function* () {
      const polled = yield* line.poll(known, cursor)
      cursor = Option.some(polled.cursor)
      told.push(...polled.messages)
      return [...told]
    })
    if (Option.isNone(cursor)) yield* poll
    return {
      send: (message) => line.send(known, message),
      findSent: (message) => line.findSent(known, message),
      told: poll,
      typing: Option.none()
    } satisfies Line
  })

  return {
    open,
    logins: [
      { steps: ["Connected"], run: Effect.map(login(shop), (step) => stepsOf(step)) },
      ...(["authorization", "sessionid"] as const).map((form) => ({
        steps: ["Connected"],
        run: Effect.flatMap(elsewhere, (session) => Effect.map(imported(session[form]), (step) => stepsOf(step)))
      })),
      {
        steps: ["TwoFactorRequired", "Connected"],
        run: Effect.gen(function* () {
          const asked = yield* login(careful)
          return stepsOf(asked, yield* login(careful, Option.some(asked.session), Option.some("123456")))
        })
      },
      {
        steps: ["ChallengeRequired", "Connected"],
        run: Effect.gen(function* () {
          const asked = yield* login(challenged)
          const answer = { credentials: credentials(challenged), pending: asked.session, code: Redacted.make("654321") }
          return stepsOf(asked, yield* anew((platform) => platform.answerChallenge(answer)))
        })
      }
    ],
    refusals: [
      { reason: "session_expired", run: imported(`17000:${guess}`), secret: guess },
      { reason: "session_expired", run: imported(guess), secret: guess },
      { reason: "bad_password", run: login({ ...shop, password: guess }), secret: guess },
      { reason: "unknown_user", run: login({ username: "nobody", password: guess }), secret: guess }
    ],
    ann: "pbuser:ann",
    ben: "pbuser:ben",
    nobody: "pbuser:nobody.here",
    write: (from, text) => {
      written.push(text)
      return side.write(from.replace("pbuser:", ""), shop.username, text)
    },
    got: Effect.map(side.textsOf("ann"), (texts: ReadonlyArray<string>) =>
      texts.filter((text) => !written.includes(text))
    ),
    isPushed: false,
    connections: Effect.succeed(0),
    block: Effect.asVoid(
      control("/failures", {
        path: "/broadcast/text/",
        status: 400,
        body: { message: "feedback_required", spam: true }
      })
    ),
    close: Effect.asVoid(control("/sessions/close", {})),
    afterClosing: "session_expired",
    typing: Option.none(),
    read: Option.none()
  } satisfies PlatformSide
})
