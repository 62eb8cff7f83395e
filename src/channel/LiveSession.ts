import { Context, DateTime, Effect, Layer, Option } from "effect"
import { Seal } from "../kit/Seal.ts"
import type { PlatformFailure, Session } from "../platform/Platform.ts"
import { ChannelRepo } from "./ChannelRepo.ts"
import { Channels } from "./Channels.ts"
import type { Channel, ChannelId, ChannelStatus } from "./domain/Channel.ts"

export interface Live {
  readonly channel: Channel
  readonly session: Session
  readonly cursor: Option.Option<string>
}

const ends: { readonly [Reason in PlatformFailure["reason"]]?: readonly [ChannelStatus, string] } = {
  session_expired: ["error", "the platform has ended the session: connect again"],
  logged_out: ["error", "logged out on the platform: connect again"],
  challenge_required: ["challenge_required", "the platform asks the owner to prove himself: connect again"],
  app_version_rejected: ["error", "the platform refuses this version of its app: update the program"]
}

/** The session of a connected channel, for its actor alone. */
export class LiveSession extends Context.Tag("gatehouse/channel/LiveSession")<
  LiveSession,
  {
    /** None when the channel is gone or not connected. */
    readonly open: (id: ChannelId) => Effect.Effect<Option.Option<Live>>
    /** The writes of a finished poll: commit them with what the poll found. */
    readonly progress: (id: ChannelId, session: Session, cursor: string) => Effect.Effect<void>
    /** True when the failure ended the connection for good; then status and event say so. */
    readonly endedBy: (id: ChannelId, failure: PlatformFailure) => Effect.Effect<boolean>
  }
>() {
  static readonly layer = Layer.effect(
    LiveSession,
    Effect.gen(function* () {
      const repo = yield* ChannelRepo
      const channels = yield* Channels
      const seal = yield* Seal

      const open = Effect.fn("LiveSession.open")(function* (id: ChannelId) {
        const channel = yield* repo.byId(id)
        const row = yield* repo.session(id)
        const sealed = Option.flatMap(row, ({ sessionSealed }) => sessionSealed)
        if (Option.isNone(channel) || channel.value.status !== "connected" || Option.isNone(sealed))
          return Option.none()
        const session = yield* Effect.orDie(seal.open(sealed.value, id))
        return Option.some({
          channel: channel.value,
          session,
          cursor: Option.flatMap(row, ({ pollCursor }) => pollCursor)
        })
      })

      const progress = Effect.fn("LiveSession.progress")(function* (id: ChannelId, session: Session, cursor: string) {
        const sessionSealed = yield* seal.seal(session, id)
        yield* repo.synced(id, { sessionSealed, pollCursor: cursor, at: DateTime.toDateUtc(yield* DateTime.now) })
      })

      const endedBy = Effect.fn("LiveSession.endedBy")(function* (id: ChannelId, failure: PlatformFailure) {
        const end = ends[failure.reason]
        if (end === undefined) return false
        yield* Effect.logWarning("a channel lost its connection").pipe(
          Effect.annotateLogs({ channel: id, reason: failure.reason })
        )
        yield* channels.lost(id, end[0], end[1])
        return true
      })

      return LiveSession.of({ open, progress, endedBy })
    })
  )
}
