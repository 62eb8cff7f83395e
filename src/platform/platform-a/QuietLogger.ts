import { Effect } from "effect"
import type { UserFacingSocketConfig } from "baileys"

type Logger = NonNullable<UserFacingSocketConfig["logger"]>

const longest = 120

const sentenceIn = (args: ReadonlyArray<unknown>): string =>
  (args.find((value): value is string => typeof value === "string") ?? "").slice(0, longest)

/**
 * The library's log as ours, without the objects that it attaches: they hold keys, numbers and messages. Its warnings and
 * errors are news to who looks for trouble only; what matters of them arrives as events.
 */
export const quietLogger = (fork: (effect: Effect.Effect<void>) => void, channelId: string): Logger => {
  const tell =
    (level: string) =>
    (...args: ReadonlyArray<unknown>) => {
      const sentence = sentenceIn(args)
      if (sentence === "") return
      fork(Effect.logDebug(`platform_a: ${sentence}`).pipe(Effect.annotateLogs({ channel: channelId, level })))
    }
  const silent = () => undefined
  const logger: Logger = {
    level: "warn",
    child: () => logger,
    trace: silent,
    debug: silent,
    info: silent,
    warn: tell("warning"),
    error: tell("error")
  }
  return logger
}
