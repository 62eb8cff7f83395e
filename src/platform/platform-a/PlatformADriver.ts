import { Effect, Layer, Option } from "effect"
import { PlatformA, type PushLogin } from "../Platform.ts"
import { SessionVault } from "../SessionVault.ts"
import { sentId } from "./Addresses.ts"
import { openConnection } from "./Connection.ts"
import { failure } from "./Outgoing.ts"
import { defaults, type PlatformAConfig } from "./PlatformAConfig.ts"
import { loadLibrary } from "./SilentLibrary.ts"

/** A platform that is away must not keep the caller, who wants the session to be gone. */
const unlinkPatience = "8 seconds"

/**
 * platform_a is WhatsApp: a linked device of its web client, which is unofficial and may restrict accounts that automate.
 * The library for it is an optional package, loaded with the first connection.
 */
export const layer = (overrides: Partial<PlatformAConfig> = {}) =>
  Layer.effect(
    PlatformA,
    Effect.gen(function* () {
      const vault = yield* SessionVault
      const config = { ...defaults, ...overrides }

      const open = (login: PushLogin) =>
        Effect.flatMap(loadLibrary, (library) => openConnection(library, config, login)).pipe(
          Effect.provideService(SessionVault, vault)
        )
      const isLinked = (channelId: string) => Effect.map(vault.credentials(channelId), Option.isSome)

      const unlink = Effect.fn("PlatformA.unlink")(
        function* (channelId: string) {
          if (!(yield* isLinked(channelId))) return
          const nothing = () => Effect.succeedNone
          const connection = yield* open({ channelId, phoneNumber: Option.none(), sentText: nothing })
          const isEnd = ({ _tag }: { readonly _tag: string }) => _tag === "Connected" || _tag === "Closed"
          const first = yield* Effect.repeat(connection.events.take, { until: isEnd })
          if (first._tag === "Closed" && first.end === "logged_out") return
          if (first._tag === "Closed") return yield* failure("unavailable", "the platform cannot be reached")
          yield* connection.unlink
        },
        Effect.scoped,
        Effect.catchTag("NoSuchElementException", () => failure("unavailable", "the connection ended")),
        Effect.timeoutFail({
          duration: unlinkPatience,
          onTimeout: () => failure("unavailable", "the platform did not answer in time")
        })
      )

      return PlatformA.of({ connect: open, unlink, isLinked, forget: vault.forget, sentId })
    })
  )
