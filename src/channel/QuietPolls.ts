import { Context, Effect, Layer, Queue } from "effect"
import { supervise } from "../kit/Supervise.ts"
import { ChannelRepo, type QuietTurn } from "./ChannelRepo.ts"
import type { ChannelId } from "./domain/Channel.ts"

/** How long polls that found nothing are gathered before they are noted together. */
const gathered = "500 millis"
const atOnce = 1_000

/**
 * Polls that found nothing, noted many in one statement: a thousand idle channels cost a statement or two a second. One
 * that a crash loses says nothing that the next poll does not say again.
 */
export class QuietPolls extends Context.Tag("gatehouse/channel/QuietPolls")<
  QuietPolls,
  {
    /** `onStale` runs when the channel has meanwhile logged in anew, was disconnected or is gone. */
    readonly note: (turn: QuietTurn, onStale: () => void) => void
  }
>() {
  static readonly layer = Layer.scoped(
    QuietPolls,
    Effect.gen(function* () {
      const repo = yield* ChannelRepo
      const noted = yield* Queue.sliding<void>(1)
      const waiting = new Map<ChannelId, { readonly turn: QuietTurn; readonly onStale: () => void }>()

      const flush = Effect.gen(function* () {
        while (waiting.size > 0) {
          const batch = [...waiting.values()].slice(0, atOnce)
          batch.forEach(({ turn }) => waiting.delete(turn.id))
          const current = yield* repo.quiet(batch.map(({ turn }) => turn))
          batch.filter(({ turn }) => !current.has(turn.id)).forEach(({ onStale }) => onStale())
        }
      })
      const turn = Queue.take(noted).pipe(Effect.zipLeft(Effect.sleep(gathered)), Effect.zipRight(flush))
      yield* Effect.forkScoped(supervise("QuietPolls", Effect.forever(turn)))

      return QuietPolls.of({
        note: (quiet, onStale) => {
          waiting.set(quiet.id, { turn: quiet, onStale })
          noted.unsafeOffer(undefined)
        }
      })
    })
  )
}
