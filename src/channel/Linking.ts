import { Context, DateTime, Effect, Layer, Option, type Redacted, Schedule } from "effect"
import { Seal } from "../kit/Seal.ts"
import { PlatformA } from "../platform/Platform.ts"
import { ChannelNotFound, Channels, ChannelStateForbids } from "./Channels.ts"
import { ChannelWaker } from "./ChannelWaker.ts"
import type { Channel } from "./domain/Channel.ts"
import { LinkRepo } from "./LinkRepo.ts"

/** What the owner of the phone scans or types to link a channel. */
export interface Shown {
  readonly as: "qr" | "pairing_code"
  readonly secret: Redacted.Redacted<string>
  readonly expiresAt: DateTime.Utc
}

export interface LinkState {
  readonly channel: Channel
  readonly shown: Option.Option<Shown>
}

/** How long a caller waits for the first code, and how often it is looked for: the session may run in another process. */
const patience = "15 seconds"
const lookAgain = "50 millis"

/**
 * Linking a channel to a phone (contract, part 4, "Accounts"): the session is the actor's, who calls only set the channel
 * going and look what it shows.
 */
export class Linking extends Context.Tag("gatehouse/channel/Linking")<
  Linking,
  {
    /** Starts a session, with the one that is kept or by a new code; answers when there is something to see or to say. */
    readonly connect: (
      channel: Channel,
      phoneNumber: Option.Option<string>
    ) => Effect.Effect<LinkState, ChannelNotFound>
    /** The code of the moment. */
    readonly shown: (id: string) => Effect.Effect<LinkState, ChannelNotFound | ChannelStateForbids>
    /**
     * Ends the session, has the platform take back the link, and destroys what is kept of it: the last also when the
     * platform does not answer, whose owner then still sees the link on the phone.
     */
    readonly logout: (id: string) => Effect.Effect<Channel, ChannelNotFound>
  }
>() {
  static readonly layer = Layer.effect(
    Linking,
    Effect.gen(function* () {
      const channels = yield* Channels
      const repo = yield* LinkRepo
      const platform = yield* PlatformA
      const seal = yield* Seal
      const waker = yield* ChannelWaker

      const stateOf = Effect.fn("Linking.stateOf")(function* (id: string) {
        const channel = yield* channels.byId(id)
        const row = yield* repo.shown(channel.id)
        const now = yield* DateTime.now
        const shown = yield* Effect.transposeMapOption(
          Option.filter(row, ({ expiresAt }) => DateTime.greaterThan(expiresAt, now)),
          ({ expiresAt, shownAs, shownSealed }) =>
            Effect.map(Effect.orDie(seal.open(shownSealed, channel.id)), (secret) => ({
              as: shownAs,
              secret,
              expiresAt
            }))
        )
        return { channel, shown } satisfies LinkState
      })

      const isTelling = ({ channel, shown }: LinkState) =>
        channel.status === "qr_required"
          ? Option.isSome(shown)
          : channel.status !== "connecting" || Option.isSome(channel.lastError)

      /** What a logout that a crash cut short has left is of no use: the owner wants to link anew. */
      const tidy = Effect.fn("Linking.tidy")(function* ({ id, status }: Channel) {
        const link = yield* repo.byId(id)
        const isLeft = status === "disconnected" && Option.exists(link, ({ isLinked }) => !isLinked)
        if (isLeft) yield* platform.forget(id)
      })

      const connect = Effect.fn("Linking.connect")(function* (channel: Channel, phoneNumber: Option.Option<string>) {
        yield* tidy(channel)
        yield* repo.begin(channel.id, phoneNumber)
        yield* waker.wake(channel.id)
        const settled = yield* Effect.repeat(stateOf(channel.id), {
          until: isTelling,
          schedule: Schedule.spaced(lookAgain)
        }).pipe(Effect.timeoutOption(patience))
        return yield* Option.match(settled, { onNone: () => stateOf(channel.id), onSome: () => stateOf(channel.id) })
      })

      const shown = Effect.fn("Linking.shown")(function* (id: string) {
        const state = yield* stateOf(id)
        if (state.channel.status === "qr_required" && Option.isSome(state.shown)) return state
        return yield* new ChannelStateForbids({ message: "The account shows no code at the moment." })
      })

      const unlink = ({ id }: Channel) =>
        platform.unlink(id).pipe(
          Effect.catchTag("PlatformFailure", ({ detail, reason }) =>
            Effect.annotateLogs(Effect.logWarning("the platform still shows a link that is gone"), {
              channel: id,
              reason,
              detail
            })
          )
        )

      const logout = Effect.fn("Linking.logout")(function* (id: string) {
        const channel = yield* channels.logout(id)
        yield* repo.hide(channel.id)
        if (channel.platform === "platform_a") yield* Effect.ensuring(unlink(channel), platform.forget(channel.id))
        return yield* channels.byId(id)
      })

      return Linking.of({ connect, shown, logout })
    })
  ).pipe(Layer.provide(LinkRepo.Default))
}
