import { assert, it } from "@effect/vitest"
import { assertNone, deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Either, Option, type Scope } from "effect"
import type { PlatformEvent, PlatformName } from "../../src/platform/domain/PlatformEvent.ts"
import { recipient } from "../../src/platform/domain/Recipient.ts"
import { longestText } from "../../src/platform/domain/TextLimit.ts"
import type { Outlet, PlatformFailure, SentMessage } from "../../src/platform/Platform.ts"
import { until } from "../support/Until.ts"

type Message = Parameters<Outlet["send"]>[1]

/** An account of ours on a platform, as a driver lets us use it. */
export interface Line {
  readonly send: (message: Message) => Effect.Effect<SentMessage, PlatformFailure>
  readonly findSent: (message: {
    readonly chatId: string
    readonly clientId: string
  }) => Effect.Effect<Option.Option<SentMessage>, PlatformFailure>
  /** What the driver has told since the line was opened. */
  readonly told: Effect.Effect<ReadonlyArray<PlatformEvent>, PlatformFailure>
  readonly typing: Option.Option<(chatId: string, isTyping: boolean) => Effect.Effect<void, PlatformFailure>>
}

/** A simulated platform with a driver. What only some platforms can do is optional, in the driver and here alike. */
export interface PlatformSide {
  /** A line by a new login, or by the session that the last one left, in a driver of its own. */
  readonly open: Effect.Effect<Line, PlatformFailure, Scope.Scope>
  /** What leads to a connected account, each with the steps that it must take. */
  readonly logins: ReadonlyArray<{
    readonly steps: ReadonlyArray<string>
    readonly run: Effect.Effect<ReadonlyArray<string>, PlatformFailure>
  }>
  /** Logins that fail, with the reason that must be given, and what must not be told. */
  readonly refusals: ReadonlyArray<{
    readonly reason: PlatformFailure["reason"]
    readonly run: Effect.Effect<unknown, PlatformFailure>
    readonly secret: string
  }>
  /** How people are written to by name; `nobody` is well-formed. */
  readonly ann: string
  readonly ben: string
  readonly nobody: string
  readonly write: (from: string, text: string) => Effect.Effect<void>
  /** The texts that people got from us, in their order. */
  readonly got: Effect.Effect<ReadonlyArray<string>>
  /** Whether a line is a connection that stays open. */
  readonly isPushed: boolean
  readonly connections: Effect.Effect<number>
  /** The next send is refused for now. */
  readonly block: Effect.Effect<void>
  /** The platform closes our session for good. */
  readonly close: Effect.Effect<void>
  readonly afterClosing: PlatformFailure["reason"]
  readonly typing: Option.Option<Effect.Effect<ReadonlyArray<string>>>
  readonly read: Option.Option<(sent: SentMessage) => Effect.Effect<void>>
}

const isSeen = (event: PlatformEvent) => event._tag === "SeenMessage"
const seenIn = (told: ReadonlyArray<PlatformEvent>) => told.filter(isSeen)
const incomingIn = (told: ReadonlyArray<PlatformEvent>) =>
  seenIn(told).filter(({ direction }) => direction === "incoming")

const reasonOf = <A>(effect: Effect.Effect<A, PlatformFailure>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason)

const clientId = "01a1fd14-94fa-7000-8000-00c4e62d5152"

/** What every driver must do, of a platform that pushes or is polled, for the rest of the program to work with it. */
export const everyPlatform = (name: PlatformName, makeSide: Effect.Effect<PlatformSide, never, Scope.Scope>) => {
  const live = <A, E>(story: string, use: (side: PlatformSide) => Effect.Effect<A, E, Scope.Scope>) =>
    it.live(`${name}: ${story}`, () => Effect.scoped(Effect.flatMap(makeSide, use)), 60_000)

  live("a login goes by typed steps, and one that is refused says why and tells no secret", (side) =>
    Effect.gen(function* () {
      for (const { run, steps } of side.logins) deepStrictEqual(yield* run, steps)
      for (const { reason, run, secret } of side.refusals) {
        const refused = yield* Effect.flip(run)
        assert.strictEqual(refused.reason, reason)
        assert.notInclude(JSON.stringify(refused), secret)
      }
    })
  )

  live("what people write is told in neutral words, in order, and across a restart without a new login", (side) =>
    Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const line = yield* side.open
          yield* side.write(side.ann, "one")
          yield* side.write(side.ben, "two")
          yield* side.write(side.ann, "three")
          const seen = incomingIn(yield* until(line.told, (told) => incomingIn(told).length >= 3))
          deepStrictEqual(
            seen.map(({ body }) => body),
            ["one", "two", "three"]
          )
          assert.strictEqual(new Set(seen.map(({ platformMessageId }) => platformMessageId)).size, 3)
          deepStrictEqual(
            seen.map(({ chatId }) => chatId === seen[0]?.chatId),
            [true, false, true]
          )
          for (const message of seen) {
            deepStrictEqual([message.type, message.chatType], ["text", "private"])
            assertNone(message.clientId)
            assert.isTrue(Option.isSome(message.sender) && Option.isSome(message.recipient))
            deepStrictEqual(recipient(name, message.chatId), Either.right(message.chatId))
          }
        })
      )
      yield* side.write(side.ben, "while away")
      const line = yield* side.open
      const later = yield* until(line.told, (told) => incomingIn(told).some(({ body }) => body === "while away"))
      assert.isFalse(later.some(({ _tag }) => _tag === "QrShown"))
    })
  )

  live("a message carries the id that its sender chose: it is there once, however often it is sent", (side) =>
    Effect.gen(function* () {
      yield* side.write(side.ann, "hello")
      const message = { to: side.ann, body: "good day", clientId }
      const sent = yield* Effect.scoped(
        Effect.gen(function* () {
          const line = yield* side.open
          const sent = yield* line.send(message)
          const again = yield* line.send({ ...message, to: sent.chatId })
          deepStrictEqual([again.chatId, again.platformMessageId], [sent.chatId, sent.platformMessageId])
          return sent
        })
      )
      const line = yield* side.open
      const found = yield* line.findSent({ chatId: sent.chatId, clientId })
      if (Option.isSome(found)) assert.strictEqual(found.value.platformMessageId, sent.platformMessageId)
      assertNone(yield* line.findSent({ chatId: sent.chatId, clientId: "another" }))
      const last = yield* line.send({ ...message, to: sent.chatId })
      assert.strictEqual(last.platformMessageId, sent.platformMessageId)
      deepStrictEqual(yield* side.got, ["good day"])
      yield* side.write(side.ann, "thanks")
      const told = yield* until(line.told, (all) => incomingIn(all).some(({ body }) => body === "thanks"))
      assert.strictEqual(incomingIn(told).find(({ body }) => body === "thanks")?.chatId, sent.chatId)
    })
  )

  live("what cannot be sent fails with its reason, and leaves nothing on the platform", (side) =>
    Effect.gen(function* () {
      const line = yield* side.open
      yield* side.write(side.ann, "hello")
      const longest = longestText(side.ann)
      const send = (to: string, body: string) => line.send({ to, body, clientId: `${to}${body.length}` })
      assert.strictEqual(yield* reasonOf(send(side.nobody, "hi")), "unknown_user")
      assert.strictEqual(yield* reasonOf(send("no address at all", "hi")), "unknown_user")
      assert.strictEqual(yield* reasonOf(send(side.ann, "x".repeat(longest + 1))), "text_too_long")
      yield* side.block
      assert.strictEqual(yield* reasonOf(send(side.ann, "not now")), "action_blocked")
      deepStrictEqual(yield* side.got, [])
      yield* send(side.ann, "x".repeat(longest))
      deepStrictEqual(
        (yield* side.got).map(({ length }) => length),
        [longest]
      )
      yield* side.close
      assert.strictEqual(yield* reasonOf(send(side.ann, "too late")), side.afterClosing)
    })
  )

  live("what only some platforms can do is there exactly where the driver says so", (side) =>
    Effect.gen(function* () {
      const line = yield* side.open
      yield* side.write(side.ann, "hello")
      assert.strictEqual(Option.isSome(line.typing), Option.isSome(side.typing))
      const sent = yield* line.send({ to: side.ann, body: "hi", clientId })
      yield* Effect.transposeMapOption(line.typing, (typing) =>
        Effect.zipRight(typing(sent.chatId, true), typing(sent.chatId, false))
      )
      yield* Effect.transposeMapOption(side.typing, (shown) =>
        until(shown, (states) => states.join() === "composing,paused")
      )
      yield* Effect.transposeMapOption(side.read, (read) => read(sent))
      const receipts = (told: ReadonlyArray<PlatformEvent>) => told.filter(({ _tag }) => _tag === "ReceiptSeen")
      if (Option.isSome(side.read)) {
        const told = yield* until(line.told, (all) => receipts(all).length > 0)
        assert.deepInclude(receipts(told)[0], { chatId: sent.chatId, status: "read" })
      } else {
        deepStrictEqual(receipts(yield* line.told), [])
      }
    })
  )

  live("a line that is closed leaves no connection behind", (side) =>
    Effect.gen(function* () {
      for (let time = 0; time < 3; time++) yield* Effect.scoped(Effect.flatMap(side.open, ({ told }) => told))
      yield* until(side.connections, (open) => open === 0)
      const line = yield* Effect.scoped(side.open)
      yield* until(side.connections, (open) => open === 0)
      if (side.isPushed) {
        assert.strictEqual(yield* reasonOf(line.send({ to: side.ann, body: "late", clientId })), "unavailable")
      }
    })
  )
}
