import { Data, DateTime, Effect, Option } from "effect"
import type { ChannelRepo } from "./ChannelRepo.ts"
import type { Channel } from "./domain/Channel.ts"
import { loginsAllowed, loginWindow, nextLoginAt } from "./domain/LoginLimit.ts"

/** Another login now would look like an attack to the platform. */
export class TooManyLogins extends Data.TaggedError("TooManyLogins")<{ readonly nextAt: DateTime.Utc }> {}

/** Notes a password or a code that is about to be tried; a channel that is gone tries none. */
export const loginAttempts = (repo: ChannelRepo) =>
  Effect.fn("LoginAttempts.note")(function* ({ id }: Channel, by: "password" | "code") {
    const at = yield* DateTime.now
    const since = DateTime.subtractDuration(at, loginWindow)
    const tried = yield* repo.tryLogin({ id, by, at, since, allowed: loginsAllowed })
    if (Option.exists(tried, ({ isAllowed }) => isAllowed)) return
    const oldest = Option.match(tried, { onNone: () => at, onSome: ({ oldest }) => oldest })
    return yield* new TooManyLogins({ nextAt: nextLoginAt(oldest) })
  })
