import { assert, it } from "@effect/vitest"
import { assertNone, assertSome, deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Either, Layer, Option, Redacted, type Scope } from "effect"
import { PlatformB, type Session } from "../../src/platform/Platform.ts"

/** What a suite needs of the other side: a place where accounts and people exist and can be looked at. */
export interface SimulatedSide {
  readonly account: (options?: {
    readonly twoFactorCode?: string
    readonly challengeCode?: string
  }) => Effect.Effect<{ readonly username: string; readonly password: string }>
  readonly write: (
    from: string,
    to: string,
    text: string,
    options?: { readonly request?: boolean }
  ) => Effect.Effect<void>
  readonly textsOf: (username: string) => Effect.Effect<ReadonlyArray<string>>
}

const secret = (text: string) => Redacted.make(text)

/** Every polled platform driver must pass this, whatever platform is behind it. */
export const polledPlatform = (
  name: string,
  makeSide: Effect.Effect<{ readonly side: SimulatedSide; readonly driver: Layer.Layer<PlatformB> }, never, Scope.Scope>
) => {
  /** `anew` runs its part in a driver of its own, as a restarted program would. */
  const withSide = <A, E>(
    use: (
      side: SimulatedSide,
      anew: <B, F>(part: Effect.Effect<B, F, PlatformB>) => Effect.Effect<B, F>
    ) => Effect.Effect<A, E, PlatformB>
  ) =>
    Effect.scoped(
      Effect.flatMap(makeSide, ({ driver, side }) =>
        Effect.provide(
          use(side, (part) => Effect.provide(part, Layer.fresh(driver))),
          driver
        )
      )
    )

  const login = (credentials: { readonly username: string; readonly password: string }) =>
    Effect.flatMap(PlatformB, (platform) =>
      platform.login({
        credentials: { username: credentials.username, password: secret(credentials.password) },
        pending: Option.none(),
        verificationCode: Option.none()
      })
    )

  const connected = Effect.fn(function* (side: SimulatedSide) {
    const account = yield* side.account()
    const step = yield* login(account)
    assert.strictEqual(step._tag, "Connected")
    return { username: account.username, session: step.session }
  })

  /** All that a restart leaves of a session: its text. */
  const restored = (session: Session) => secret(Redacted.value(session))

  it.live(`${name}: a right password connects, a wrong one says so and is told nowhere`, () =>
    withSide((side) =>
      Effect.gen(function* () {
        const account = yield* side.account()
        assert.strictEqual((yield* login(account))._tag, "Connected")
        const wrong = yield* Effect.either(login({ ...account, password: "guess-of-a-thief" }))
        assert.isTrue(Either.isLeft(wrong) && wrong.left.reason === "bad_password")
        assert.notInclude(JSON.stringify(wrong), "guess-of-a-thief")
        const unknown = yield* Effect.either(login({ username: "nobody", password: "whatever1" }))
        assert.isTrue(Either.isLeft(unknown) && unknown.left.reason === "unknown_user")
      })
    )
  )

  it.live(`${name}: a second factor goes on from its session after a restart`, () =>
    withSide((side, anew) =>
      Effect.gen(function* () {
        const account = yield* side.account({ twoFactorCode: "123456" })
        const credentials = { username: account.username, password: secret(account.password) }
        const step = yield* login(account)
        assert.strictEqual(step._tag, "TwoFactorRequired")
        const pending = Option.some(restored(step.session))
        const withCode = (code: string) =>
          anew(
            Effect.flatMap(PlatformB, (platform) =>
              platform.login({ credentials, pending, verificationCode: Option.some(secret(code)) })
            )
          )
        const wrong = yield* Effect.either(withCode("000000"))
        assert.isTrue(Either.isLeft(wrong) && wrong.left.reason === "wrong_code")
        assert.strictEqual((yield* withCode("123456"))._tag, "Connected")
      })
    )
  )

  it.live(`${name}: a challenge goes on from its session after a restart at every step`, () =>
    withSide((side, anew) =>
      Effect.gen(function* () {
        const account = yield* side.account({ challengeCode: "654321" })
        const credentials = { username: account.username, password: secret(account.password) }
        const step = yield* login(account)
        assert.strictEqual(step._tag, "ChallengeRequired")
        const answer = (code: string) =>
          anew(
            Effect.flatMap(PlatformB, (platform) =>
              platform.answerChallenge({ credentials, pending: restored(step.session), code: secret(code) })
            )
          )
        const wrong = yield* Effect.either(answer("000000"))
        assert.isTrue(Either.isLeft(wrong) && wrong.left.reason === "wrong_code")
        const connected = yield* answer("654321")
        assert.strictEqual(connected._tag, "Connected")
        const polled = yield* anew(
          Effect.flatMap(PlatformB, (platform) => platform.poll(restored(connected.session), Option.none()))
        )
        deepStrictEqual(polled.messages, [])
      })
    )
  )

  it.live(`${name}: the first poll is a baseline, later ones report what is new once and in order`, () =>
    withSide((side) =>
      Effect.gen(function* () {
        const platform = yield* PlatformB
        const { session, username } = yield* connected(side)
        yield* side.write("ann", username, "old")
        const first = yield* platform.poll(session, Option.none())
        deepStrictEqual(first.messages, [])
        yield* side.write("ann", username, "one")
        yield* side.write("ben", username, "two")
        yield* side.write("ann", username, "three")
        const second = yield* platform.poll(first.session, Option.some(first.cursor))
        deepStrictEqual(
          second.messages.map(({ body }) => body),
          ["one", "two", "three"]
        )
        deepStrictEqual(
          second.messages.map(({ sender }) => Option.getOrNull(sender)),
          ["ann", "ben", "ann"]
        )
        assert.isTrue(second.messages.every(({ direction }) => direction === "incoming"))
        const third = yield* platform.poll(second.session, Option.some(second.cursor))
        deepStrictEqual(third.messages, [])
      })
    )
  )

  it.live(`${name}: a poll that was not kept is repeated with the same messages`, () =>
    withSide((side, anew) =>
      Effect.gen(function* () {
        const platform = yield* PlatformB
        const { session, username } = yield* connected(side)
        const first = yield* platform.poll(session, Option.none())
        yield* side.write("ann", username, "one")
        yield* side.write("stranger", username, "two", { request: true })
        const lost = yield* platform.poll(first.session, Option.some(first.cursor))
        const again = yield* anew(
          Effect.flatMap(PlatformB, (restarted) => restarted.poll(restored(first.session), Option.some(first.cursor)))
        )
        deepStrictEqual(again.messages, lost.messages)
        deepStrictEqual(
          again.messages.map(({ body }) => body),
          ["one", "two"]
        )
      })
    )
  )

  it.live(`${name}: what the owner types elsewhere is told from what was sent here`, () =>
    withSide((side) =>
      Effect.gen(function* () {
        const platform = yield* PlatformB
        const { session, username } = yield* connected(side)
        yield* side.write("ann", username, "hello")
        const first = yield* platform.poll(session, Option.none())
        const sent = yield* platform.send(session, { to: "pbuser:ann", body: "by program", clientId: "ours" })
        yield* side.write(username, "ann", "by hand")
        const { messages } = yield* platform.poll(first.session, Option.some(first.cursor))
        deepStrictEqual(
          messages.map(({ body, clientId, direction }) => [body, direction, Option.contains(clientId, "ours")]),
          [
            ["by program", "outgoing", true],
            ["by hand", "outgoing", false]
          ]
        )
        for (const message of messages) {
          assert.strictEqual(message.chatId, sent.chatId)
          assertSome(message.sender, username)
          assertSome(message.recipient, "ann")
        }
        assert.strictEqual(messages[0]?.platformMessageId, sent.platformMessageId)
      })
    )
  )

  it.live(`${name}: more than a page of new messages and requests of strangers are all reported`, () =>
    withSide((side) =>
      Effect.gen(function* () {
        const platform = yield* PlatformB
        const { session, username } = yield* connected(side)
        const first = yield* platform.poll(session, Option.none())
        const texts = Array.from({ length: 35 }, (_, index) => `message ${index}`)
        yield* Effect.forEach(texts, (text) => side.write("ann", username, text))
        yield* side.write("stranger", username, "may I?", { request: true })
        const second = yield* platform.poll(first.session, Option.some(first.cursor))
        deepStrictEqual(
          second.messages.map(({ body }) => body),
          [...texts, "may I?"]
        )
      })
    )
  )

  it.live(`${name}: a send is found by its client id, and repeating it sends nothing twice`, () =>
    withSide((side) =>
      Effect.gen(function* () {
        const platform = yield* PlatformB
        const { session, username } = yield* connected(side)
        const first = yield* platform.poll(session, Option.none())
        yield* side.write("ann", username, "hello")
        const { messages } = yield* platform.poll(first.session, Option.some(first.cursor))
        const chatId = messages[0]?.chatId ?? ""
        const clientId = "01a1fd14-94fa-7000-8000-00c4e62d5152"
        assertNone(yield* platform.findSent(session, { chatId, clientId }))
        const sent = yield* platform.send(session, { to: chatId, body: "good day", clientId })
        assertSome(yield* platform.findSent(session, { chatId, clientId }), sent)
        yield* platform.send(session, { to: chatId, body: "good day", clientId })
        deepStrictEqual(yield* side.textsOf("ann"), ["hello", "good day"])
        const seen = yield* platform.poll(first.session, Option.some(first.cursor))
        const own = seen.messages.find(({ direction }) => direction === "outgoing")
        assertSome(
          Option.flatMap(Option.fromNullable(own), (message) => message.clientId),
          clientId
        )
      })
    )
  )

  it.live(`${name}: a message to a name opens a chat, to nobody it fails`, () =>
    withSide((side) =>
      Effect.gen(function* () {
        const platform = yield* PlatformB
        const { session, username } = yield* connected(side)
        yield* side.write("ann", username, "hello")
        const sent = yield* platform.send(session, { to: "pbuser:ann", body: "hi ann", clientId: "c-1" })
        assert.match(sent.chatId, /^pb:\d+$/)
        const unknown = yield* Effect.either(
          platform.send(session, { to: "pbuser:nobody.here", body: "hi", clientId: "c-2" })
        )
        assert.isTrue(Either.isLeft(unknown) && unknown.left.reason === "unknown_user")
      })
    )
  )
}
