import { Context, Data, DateTime, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { nextId } from "../kit/Id.ts"
import { Seal } from "../kit/Seal.ts"
import * as SecretToken from "../kit/SecretToken.ts"
import { type Credentials, LoginStep, PlatformB, type PlatformFailure, type Session } from "../platform/Platform.ts"
import type { PlatformName } from "../platform/domain/PlatformEvent.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { ChannelRepo } from "./ChannelRepo.ts"
import { ChannelWaker } from "./ChannelWaker.ts"
import { Channel, ChannelId, type ChannelStatus, connectionData } from "./domain/Channel.ts"
import type { GatewayEvent } from "./domain/GatewayEvent.ts"

const tokenPrefix = "gh_ch_"

export class ChannelNotFound extends Data.TaggedError("ChannelNotFound")<{}> {}
/** The channel is not in a state in which that can be done. */
export class ChannelStateForbids extends Data.TaggedError("ChannelStateForbids")<{ readonly message: string }> {}

export interface ChannelPage {
  readonly before: Option.Option<string>
  readonly limit: number
}

type ConnectFailure = ChannelNotFound | ChannelStateForbids | PlatformFailure

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
    readonly remove: (channel: Channel) => Effect.Effect<void>
    /** None for a token that is malformed or unknown. */
    readonly authenticate: (
      token: Redacted.Redacted<string>
    ) => Effect.Effect<Option.Option<{ readonly id: ChannelId }>>
    readonly connect: (
      id: string,
      credentials: Credentials,
      verificationCode: Option.Option<Redacted.Redacted<string>>
    ) => Effect.Effect<Channel, ConnectFailure>
    readonly answerChallenge: (
      id: string,
      credentials: Credentials,
      code: Redacted.Redacted<string>
    ) => Effect.Effect<Channel, ConnectFailure>
    /** Stops the channel and keeps its session. */
    readonly disconnect: (id: string) => Effect.Effect<Channel, ChannelNotFound>
    /** The platform ended the connection: the channel stops trying and says why. */
    readonly lost: (id: ChannelId, status: ChannelStatus, reason: string) => Effect.Effect<void>
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
        const row = yield* repo.session(channel.id)
        const sealed = Option.flatMap(row, ({ sessionSealed }) => sessionSealed)
        if (Option.isNone(sealed)) return Option.none<Session>()
        return Option.some(yield* Effect.orDie(seal.open(sealed.value, channel.id)))
      })

      const applyStep = Effect.fn("Channels.applyStep")(
        function* (channel: Channel, step: LoginStep) {
          const now = yield* DateTime.now
          const status = statusOf(step)
          const lastError =
            step._tag === "ManualActionRequired"
              ? Option.some(`manual action needed: ${step.url}`)
              : Option.none<string>()
          yield* repo.setState(channel.id, {
            status,
            lastError,
            sessionSealed: yield* seal.seal(step.session, channel.id),
            ...(step._tag === "Connected" ? { username: step.username, connectedAt: DateTime.toDateUtc(now) } : {})
          })
          const changed = yield* Effect.orDie(byId(channel.id))
          if (step._tag === "Connected") yield* tell(changed, "connection.connected")
          return changed
        },
        (effect) => outbox.transaction(effect),
        Effect.catchTag("SqlError", Effect.die)
      )

      const through = Effect.fn("Channels.through")(function* (
        channel: Channel,
        login: Effect.Effect<LoginStep, PlatformFailure>
      ) {
        const changed = yield* applyStep(channel, yield* login)
        yield* waker.wake(channel.id)
        return changed
      })

      const platformB = Effect.fn("Channels.platformB")(function* (id: string) {
        const channel = yield* byId(id)
        if (channel.platform === "platform_b") return channel
        return yield* new ChannelStateForbids({ message: "Channels of platform_a cannot be connected yet." })
      })

      const connect = Effect.fn("Channels.connect")(function* (
        id: string,
        credentials: Credentials,
        verificationCode: Option.Option<Redacted.Redacted<string>>
      ) {
        const channel = yield* platformB(id)
        const pending = yield* pendingSession(channel)
        return yield* through(channel, platform.login({ credentials, pending, verificationCode }))
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
        return yield* through(channel, platform.answerChallenge({ credentials, pending: pending.value, code }))
      })

      const setStatus = Effect.fn("Channels.setStatus")(
        function* (id: ChannelId, status: ChannelStatus, reason: Option.Option<string>, event: GatewayEvent) {
          yield* repo.setState(id, { status, lastError: reason })
          const channel = yield* repo.byId(id)
          if (Option.isSome(channel)) yield* tell(channel.value, event)
        },
        (effect) => outbox.transaction(effect),
        Effect.orDie
      )

      const disconnect = Effect.fn("Channels.disconnect")(function* (id: string) {
        const channel = yield* byId(id)
        if (channel.status === "disconnected") return channel
        yield* setStatus(channel.id, "disconnected", Option.none(), "connection.disconnected")
        yield* waker.wake(channel.id)
        return yield* byId(id)
      })

      return Channels.of({
        create,
        byId,
        page: ({ before, limit }) => repo.page({ before: Option.getOrNull(before), limit }),
        rename: (channel, name) => Effect.as(repo.rename(channel.id, name), Channel.make({ ...channel, name })),
        remove: (channel) => Effect.zipRight(repo.remove(channel.id), waker.wake(channel.id)),
        authenticate: (token) =>
          SecretToken.isWellFormed(tokenPrefix, token)
            ? repo.byTokenDigest(SecretToken.digest(token))
            : Effect.succeedNone,
        connect,
        answerChallenge,
        disconnect,
        lost: (id, status, reason) =>
          Effect.zipRight(setStatus(id, status, Option.some(reason), "connection.error"), waker.wake(id))
      })
    })
  )
}
