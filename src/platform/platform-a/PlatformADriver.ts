import { Effect, Layer, Option } from "effect"
import { PlatformA } from "../Platform.ts"
import { SessionVault } from "../SessionVault.ts"
import { sentId } from "./Addresses.ts"
import { openConnection } from "./Connection.ts"
import { defaults, type PlatformAConfig } from "./PlatformAConfig.ts"
import { loadLibrary } from "./SilentLibrary.ts"

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
      return PlatformA.of({
        connect: (login) =>
          Effect.flatMap(loadLibrary, (library) => openConnection(library, config, login)).pipe(
            Effect.provideService(SessionVault, vault)
          ),
        isLinked: (channelId) => Effect.map(vault.credentials(channelId), Option.isSome),
        forget: vault.forget,
        sentId
      })
    })
  )
