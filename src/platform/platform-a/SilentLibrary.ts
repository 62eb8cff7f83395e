import { Effect, Option } from "effect"
import { PlatformFailure } from "../Platform.ts"
import type * as Baileys from "baileys"

/** The optional package that speaks the protocol of platform_a. */
export type Library = typeof Baileys

/** How the signal library begins what it prints, some of it followed by a session with all its private keys. */
const labels = [
  "Closing session:",
  "Opening session:",
  "Removing old closed session:",
  "Session already closed",
  "Session already open",
  "Migrating session to:",
  "V1 session storage migration error",
  "Closing open session in favor of incoming prekey bundle",
  "Decrypted message with closed session",
  "Failed to decrypt message with any known session",
  "Session error:",
  "Unhandled bucket type"
]

const isSession = (value: unknown): boolean =>
  typeof value === "object" && value !== null && ["SessionEntry", "SessionRecord"].includes(value.constructor?.name)

/** Whether a call of the console comes from the signal library, or carries one of its sessions. */
export const isUnspeakable = (args: ReadonlyArray<unknown>): boolean => {
  const [first] = args
  return (typeof first === "string" && labels.some((label) => first.startsWith(label))) || args.some(isSession)
}

type Speaker = (...args: ReadonlyArray<unknown>) => void

const guarded =
  (speak: Speaker): Speaker =>
  (...args) => {
    if (!isUnspeakable(args)) speak(...args)
  }

let isGuarded = false

/** Before the package is imported: the signal library asks no logger, it writes to the console. */
const guardConsole = Effect.sync(() => {
  if (isGuarded) return
  isGuarded = true
  for (const level of ["log", "info", "warn", "error", "debug"] as const) {
    console[level] = guarded(console[level].bind(console))
  }
})

const missing = () =>
  new PlatformFailure({
    reason: "driver_missing",
    detail: "platform_a needs the optional package baileys: npm install baileys@7.0.0-rc14",
    retryAfter: Option.none()
  })

/** The package, on first use; the program starts and does everything else without it. */
export const loadLibrary: Effect.Effect<Library, PlatformFailure> = Effect.zipRight(
  guardConsole,
  Effect.tryPromise({ try: () => import("baileys"), catch: missing })
).pipe(Effect.withSpan("PlatformA.loadLibrary"))
