import { Context, Data, DateTime, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { nextId } from "../kit/Id.ts"
import { Seal } from "../kit/Seal.ts"
import * as SecretToken from "../kit/SecretToken.ts"
import { type Credentials, LoginStep, PlatformB, type PlatformFailure, type Session } from "../platform/Platform.ts"
import type { PlatformName } from "../platform/domain/PlatformEvent.ts"
import { Endpoints } from "../webhook/Endpoints.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { ChannelRepo } from "./ChannelRepo.ts"
import { ChannelWaker } from "./ChannelWaker.ts"
import { Channel, ChannelId, connectionData } from "./domain/Channel.ts"
import type { GatewayEvent } from "./domain/GatewayEvent.ts"
import type { Pacing } from "./domain/Pacing.ts"
import { loginAttempts, type TooManyLogins } from "./LoginAttempts.ts"
import { SendQueue } from "./SendQueue.ts"

const tokenPrefix = "gh_ch_"

export class ChannelNotFound extends Data.TaggedError("ChannelNotFound")<{}> {}
/** The channel is not in a state in which that can be done. */
export class ChannelStateForbids extends Data.TaggedError("ChannelStateForbids")<{ readonly message: string }> {}

export interface ChannelPage {
  readonly before: Option.Option<string>
  readonly limit: number
}

type ConnectFailure = ChannelNotFound | ChannelStateForbids | TooManyLogins | PlatformFailure

const isChannelId = Schema.is(ChannelId)

const statusOf = LoginStep.$match({
  Connected: () => "connected" as const,
  TwoFactorRequired: () => "two_factor_required" as const,
  ChallengeRequired: () => "challenge_required" as const,
  ManualActionRequired: () => "challenge_required" as const
})

/**
 * Channels, called accounts on the wire (gateway specification, parts 2 to 5; contract, part 4). Passwords and codes pass
 * through to the platform and are kept nowhere; sessions are sealed. A status change and its event are one transaction.
 */
export class Channels extends Context.Tag("gatehouse/channel/Channels")<
  Channels,
  {
    readonly create: (
      name: string,
      platform: PlatformName
    ) => Effect.Effect<{ readonly channel: Channel; readonly token: Redacted.Redacted<string> }>
    readonly byId: (id: string) => Effect.Effect<Channel, ChannelNotFound>
    readonly page: (page: ChannelPage) => Effect.Effect<ReadonlyArray<Channel>>
    readonly rename: (channel: Channel, name: string) => Effect.Effect<Channel>
    /** With all that it stored; its webhooks go and what is due to them is canceled. */
    readonly remove: (channel: Channel) => Effect.Effect<void>
    /** A new token; the one before is worth nothing from now on. */
    readonly rotateToken: (channel: Channel) => Effect.Effect<Redacted.Redacted<string>>
    /** Holds from the next send on, also for what waits already. */
    readonly putPacing: (channel: Channel, pacing: Pacing) => Effect.Effect<void>
    /** None for a token that is malformed or unknown. */
    readonly authenticate: (
      token: Redacted.Redacted<string>
    ) => Effect.Effect<Option.Option<{ readonly id: ChannelId }>>
    readonly connect: (
      id: string,
      credentials: Credentials,
      verificationCode: Option.Option<Redacted.Redacted<string>>
    ) => Effect.Effect<Channel, ConnectFailure>
    /** Connects by a session that was opened elsewhere. */
    readonly importSession: (id: string, text: Redacted.Redacted<string>) => Effect.Effect<Channel, ConnectFailure>
    readonly answerChallenge: (
      id: string,
      credentials: Credentials,
      code: Redacted.Redacted<string>
    ) => Effect.Effect<Channel, ConnectFailure>
    /** Connects a disconnected channel again by the session that it kept. */
    readonly resume: (id: string) => Effect.Effect<Channel, ChannelNotFound | ChannelStateForbids>
    /** Stops the channel and keeps its session. */
    readonly disconnect: (id: string) => Effect.Effect<Channel, ChannelNotFound>
    /** Stops the channel and destroys its session. */
    readonly logout: (id: string) => Effect.Effect<Channel, ChannelNotFound>
  }
>() {
  static readonly layer = Layer.effect(
    Channels,
    Effect.gen(function* () {
      const repo = yield* ChannelRepo
      const platform = yield* PlatformB
      const seal = yield* Seal
      const outbox = yield* Outbox
      const waker = yield* ChannelWaker
      const endpoints = yield* Endpoints
      const queue = yield* SendQueue
      const mayLogIn = loginAttempts(repo)
      const underWay = new Set<ChannelId>()

      const byId = Effect.fn("Channels.byId")(function* (id: string) {
        if (!isChannelId(id)) return yield* new ChannelNotFound()
        const found = yield* repo.byId(id)
        return yield* Option.match(found, { onNone: () => new ChannelNotFound(), onSome: Effect.succeed })
      })

      const tell = Effect.fn("Channels.tell")(function* (channel: Channel, event: GatewayEvent) {
        const timestamp = yield* DateTime.now
        const owner = { kind: "account", id: channel.id } as const
        yield* outbox.publish([{ eventId: yield* nextId, owner, event, timestamp, data: connectionData(channel) }])
      })

      const create = Effect.fn("Channels.create")(function* (name: string, platformName: PlatformName) {
        const token = yield* SecretToken.makeToken(tokenPrefix)
        const channel = Channel.make({
          id: ChannelId.make(yield* nextId),
          name,
          platform: platformName,
          status: "disconnected",
          username: Option.none(),
          lastError: Option.none(),
          connectedAt: Option.none(),
          lastSyncedAt: Option.none(),
          createdAt: yield* DateTime.now
        })
        yield* repo.insert({
          id: channel.id,
          name,
          platform: platformName,
          tokenDigest: SecretToken.digest(token),
          createdAt: DateTime.toDateUtc(channel.createdAt)
        })
        return { channel, token }
      })

      const pendingSession = Effect.fn("Channels.pendingSession")(function* (channel: Channel) {
        const row = yield* repo.row(channel.id)
        const sealed = Option.flatMap(row, ({ sessionSealed }) => sessionSealed)
        if (Option.isNone(sealed)) return Option.none<Session>()
        return yield* Effect.option(seal.open(sealed.value, channel.id))
      })

      const applyStep = Effect.fn("Channels.applyStep")(
        function* ({ id }: Channel, step: LoginStep, by: "password" | "code") {
          const now = yield* DateTime.now
          const isConnected = step._tag === "Connected"
          const changed = yield* repo.login({
            id,
            status: statusOf(step),
            username: isConnected ? Option.some(step.username) : Option.none(),
            lastError:
              step._tag === "ManualActionRequired" ? Option.some(`manual action needed: ${step.url}`) : Option.none(),
            sessionSealed: yield* seal.seal(step.session, id),
            connectedAt: isConnected ? Option.some(now) : Option.none(),
            isCodeRight: isConnected || by === "code"
          })
          if (Option.isNone(changed)) return yield* new ChannelNotFound()
          if (isConnected) yield* tell(changed.value, "connection.connected")
          return changed.value
        },
        (effect) => outbox.transaction(effect),
        Effect.catchTag("SqlError", Effect.die)
      )

      /** One login of a channel at a time; what the platform objects to is noted on the channel. */
      const through = Effect.fn("Channels.through")(function* (
        channel: Channel,
        login: Effect.Effect<LoginStep, PlatformFailure>,
        by: "password" | "code"
      ) {
        if (underWay.has(channel.id)) {
          return yield* new ChannelStateForbids({ message: "Another login of this channel is under way." })
        }
        underWay.add(channel.id)
        const step = yield* login.pipe(
          Effect.tapError(({ detail, reason }) =>
            Effect.zipRight(
              repo.noteError(channel.id, reason),
              Effect.annotateLogs(Effect.logWarning("a login failed"), { channel: channel.id, reason, detail })
            )
          ),
          Effect.ensuring(Effect.sync(() => underWay.delete(channel.id)))
        )
        const changed = yield* applyStep(channel, step, by)
        if (changed.status === "connected") yield* queue.release(channel.id)
        yield* waker.wake(channel.id)
        return changed
      })

      const platformB = Effect.fn("Channels.platformB")(function* (id: string) {
        const channel = yield* byId(id)
        if (channel.platform === "platform_b") return channel
        return yield* new ChannelStateForbids({
          message: "Channels of platform_a have no challenge: link them by a QR or pairing code."
        })
      })

      const connect = Effect.fn("Channels.connect")(function* (
        id: string,
        credentials: Credentials,
        verificationCode: Option.Option<Redacted.Redacted<string>>
      ) {
        const channel = yield* platformB(id)
        const pending = yield* pendingSession(channel)
        const isSecondStep = channel.status === "two_factor_required" && Option.isSome(pending)
        const code = isSecondStep ? verificationCode : Option.none()
        const by = Option.isSome(code) ? "code" : "password"
        yield* mayLogIn(channel, by)
        return yield* through(channel, platform.login({ credentials, pending, verificationCode: code }), by)
      })

      const importSession = Effect.fn("Channels.importSession")(function* (
        id: string,
        text: Redacted.Redacted<string>
      ) {
        const channel = yield* platformB(id)
        const pending = yield* pendingSession(channel)
        return yield* through(channel, platform.importSession({ text, pending }), "password")
      })

      const answerChallenge = Effect.fn("Channels.answerChallenge")(function* (
        id: string,
        credentials: Credentials,
        code: Redacted.Redacted<string>
      ) {
        const channel = yield* platformB(id)
        const pending = yield* pendingSession(channel)
        if (channel.status !== "challenge_required" || Option.isNone(pending)) {
          return yield* new ChannelStateForbids({ message: "The platform asks this channel no challenge." })
        }
        yield* mayLogIn(channel, "code")
        return yield* through(channel, platform.answerChallenge({ credentials, pending: pending.value, code }), "code")
      })

      const resume = Effect.fn("Channels.resume")(function* (id: string) {
        const channel = yield* platformB(id)
        const at = yield* DateTime.now
        const resumed = yield* repo
          .resume({ id: channel.id, at })
          .pipe(
            Effect.tap(Option.match({ onNone: () => Effect.void, onSome: (one) => tell(one, "connection.connected") })),
            (effect) => outbox.transaction(effect),
            Effect.orDie
          )
        if (Option.isNone(resumed)) {
          return yield* new ChannelStateForbids({ message: "The channel keeps no session that it could go on with." })
        }
        yield* waker.wake(channel.id)
        return resumed.value
      })

      const leave = Effect.fn("Channels.leave")(function* (id: string, session: "kept" | "destroyed") {
        const channel = yield* byId(id)
        yield* Effect.gen(function* () {
          const left = yield* repo.end({ id: channel.id, loginCount: null, status: "disconnected", reason: null })
          if (session === "destroyed") yield* repo.forgetSession(channel.id)
          if (Option.isSome(left)) yield* tell(left.value, "connection.disconnected")
        }).pipe((effect) => outbox.transaction(effect), Effect.orDie)
        yield* waker.wake(channel.id)
        return yield* byId(id)
      })

      const remove = Effect.fn("Channels.remove")(function* ({ id }: Channel) {
        yield* Effect.orDie(outbox.transaction(Effect.zipRight(endpoints.removeOf(id), repo.remove(id))))
        yield* waker.wake(id)
      })

      const rotateToken = Effect.fn("Channels.rotateToken")(function* ({ id }: Channel) {
        const token = yield* SecretToken.makeToken(tokenPrefix)
        yield* repo.replaceToken(id, SecretToken.digest(token))
        return token
      })

      const putPacing = Effect.fn("Channels.putPacing")(function* ({ id }: Channel, pacing: Pacing) {
        yield* repo.putPacing(id, pacing)
        yield* queue.release(id)
        yield* waker.wake(id)
      })

      return Channels.of({
        create,
        byId,
        page: ({ before, limit }) => repo.page({ before: Option.getOrNull(before), limit }),
        rename: (channel, name) => Effect.as(repo.rename(channel.id, name), Channel.make({ ...channel, name })),
        remove,
        rotateToken,
        putPacing,
        authenticate: (token) =>
          SecretToken.isWellFormed(tokenPrefix, token)
            ? repo.byTokenDigest(SecretToken.digest(token))
            : Effect.succeedNone,
        connect,
        importSession,
        answerChallenge,
        resume,
        disconnect: (id) => leave(id, "kept"),
        logout: (id) => leave(id, "destroyed")
      })
    })
  )
}
