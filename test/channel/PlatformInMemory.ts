import { DateTime, Effect, Layer, Option, Redacted } from "effect"
import { SeenMessage } from "../../src/platform/domain/PlatformEvent.ts"
import { LoginStep, PlatformA, PlatformB, PlatformFailure, type SentMessage } from "../../src/platform/Platform.ts"

export interface Sent extends SentMessage {
  readonly body: string
  readonly clientId: string
}

/** What the platform knows, shared by all lives of the program. */
export class PlatformWorld {
  readonly inbox: Array<SeenMessage> = []
  readonly sent: Array<Sent> = []
  /** How often it was asked for a message that may have been sent. */
  lookups = 0
  readonly polls: Array<string> = []
  readonly polledBy: Array<string> = []
  /** What the next calls meet instead of an answer; `lost` sends arrive although they fail. */
  readonly troubles: Array<{
    readonly at: "poll" | "send" | "login"
    readonly reason: PlatformFailure["reason"]
    readonly lost?: boolean
  }> = []

  /** Users whose polls do not fail but crash. */
  readonly poisoned = new Set<string>()

  readonly write = (chat: string, body: string, at: string, changes: Partial<typeof SeenMessage.Type> = {}) =>
    this.inbox.push(
      SeenMessage.make({
        chatId: `pb:${chat}`,
        chatType: "private",
        chatName: Option.some(`customer ${chat}`),
        platformMessageId: `item-${this.inbox.length + 1}`,
        direction: "incoming",
        type: "text",
        sender: Option.some(`customer${chat}`),
        recipient: Option.some("shop"),
        body,
        clientId: Option.none(),
        timestamp: DateTime.unsafeMake(at),
        ...changes
      })
    )

  readonly trouble = (at: "poll" | "send" | "login") => {
    const index = this.troubles.findIndex((trouble) => trouble.at === at)
    return Option.fromNullable(index === -1 ? undefined : this.troubles.splice(index, 1)[0])
  }
}

const sessionOf = (username: string) => Redacted.make(`a session of ${username}`)

const failing = (reason: PlatformFailure["reason"]) =>
  new PlatformFailure({ reason, detail: reason, retryAfter: Option.none() })

/** A platform that pushes and that nobody reaches. */
const unreachable = Layer.succeed(
  PlatformA,
  PlatformA.of({
    connect: () => failing("unavailable"),
    unlink: () => failing("unavailable"),
    isLinked: () => Effect.succeed(false),
    forget: () => Effect.void,
    sentId: (clientId) => clientId
  })
)

export const layer = (world: PlatformWorld, around: <A, E>(call: Effect.Effect<A, E>) => Effect.Effect<A, E>) => {
  const deliver = (message: { readonly to: string; readonly body: string; readonly clientId: string }) => {
    const chatId = message.to.replace(/^pbuser:/, "pb:of-")
    const platformMessageId = `own-${world.sent.length + 1}`
    const timestamp = DateTime.unsafeMake("2026-03-01T12:00:30Z")
    world.sent.push({ chatId, platformMessageId, timestamp, body: message.body, clientId: message.clientId })
    world.write(chatId.slice(3), message.body, "2026-03-01T12:00:30Z", {
      platformMessageId,
      direction: "outgoing",
      sender: Option.some("shop"),
      clientId: Option.some(message.clientId)
    })
    return { chatId, platformMessageId, timestamp }
  }
  const polled = Layer.succeed(
    PlatformB,
    PlatformB.of({
      login: ({ credentials, verificationCode }) =>
        around(
          Effect.gen(function* () {
            const trouble = world.trouble("login")
            const session = sessionOf(credentials.username)
            if (Option.isSome(trouble)) return yield* failing(trouble.value.reason)
            if (credentials.username === "two-factor" && Option.isNone(verificationCode)) {
              return LoginStep.TwoFactorRequired({ session })
            }
            if (credentials.username === "challenged") {
              return LoginStep.ChallengeRequired({ session, contactPoint: Option.none() })
            }
            return LoginStep.Connected({ session, username: credentials.username })
          })
        ),
      importSession: ({ text }) =>
        around(
          Effect.sync(() => LoginStep.Connected({ session: sessionOf(Redacted.value(text)), username: "imported" }))
        ),
      answerChallenge: ({ code, credentials }) =>
        around(
          Effect.gen(function* () {
            if (Redacted.value(code) !== "123456") return yield* failing("wrong_code")
            return LoginStep.Connected({ session: sessionOf(credentials.username), username: credentials.username })
          })
        ),
      poll: (session, cursor) =>
        around(
          Effect.gen(function* () {
            world.polls.push(Option.getOrElse(cursor, () => "baseline"))
            world.polledBy.push(Redacted.value(session).replace("a session of ", ""))
            const poisoned = [...world.poisoned]
              .map(sessionOf)
              .some((one) => Redacted.value(one) === Redacted.value(session))
            if (poisoned) return yield* Effect.dieMessage("poisoned")
            const trouble = world.trouble("poll")
            if (Option.isSome(trouble)) return yield* failing(trouble.value.reason)
            const messages = Option.match(cursor, { onNone: () => [], onSome: (at) => world.inbox.slice(Number(at)) })
            return { session, cursor: String(world.inbox.length), messages }
          })
        ),
      send: (_, message) =>
        around(
          Effect.gen(function* () {
            const trouble = world.trouble("send")
            if (Option.isNone(trouble)) return deliver(message)
            if (trouble.value.lost === true) deliver(message)
            return yield* failing(trouble.value.reason)
          })
        ),
      findSent: (_, { clientId }) =>
        around(
          Effect.sync(() => {
            world.lookups += 1
            return Option.fromNullable(world.sent.find((sent) => sent.clientId === clientId))
          })
        )
    })
  )
  return Layer.merge(polled, unreachable)
}
