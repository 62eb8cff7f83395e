import { Chunk, Deferred, Effect, Exit, Queue } from "effect"
import type { Settlement } from "./domain/Delivery.ts"
import type { EndpointId } from "./domain/Webhook.ts"
import { QueueRepo } from "./QueueRepo.ts"

/** What became of some attempts of an endpoint. */
export interface Outcome {
  readonly settlements: ReadonlyArray<Settlement>
  readonly well: ReadonlyArray<EndpointId>
}

interface Waiting extends Outcome {
  readonly written: Deferred.Deferred<void>
}

/** Endpoints that wait to be written for; a loop more has to wait itself. */
const waitingAtMost = 4096
const writtenAtOnce = 256
/** While one statement is on its way, the next fills. */
const writers = 2

/**
 * Writes back for all endpoints together: whatever comes while a statement is on its way goes with the next one, so that
 * a thousand endpoints with one event each cost a few commits and not a thousand. Whoever waits learns how it went.
 */
export const make = Effect.gen(function* () {
  const repo = yield* QueueRepo
  const queue = yield* Queue.bounded<Waiting>(waitingAtMost)

  const together = (batch: ReadonlyArray<Outcome>) =>
    repo.settle(
      batch.flatMap(({ settlements }) => settlements),
      batch.flatMap(({ well }) => well)
    )
  const tell = (batch: ReadonlyArray<Waiting>, exit: Exit.Exit<void>) =>
    Effect.forEach(batch, ({ written }) => Deferred.done(written, exit), { discard: true })

  /** What cannot be written is the trouble of one endpoint, not of all that happened to be beside it. */
  const apart = (batch: ReadonlyArray<Waiting>) =>
    Effect.forEach(batch, (one) => Effect.flatMap(Effect.exit(together([one])), (exit) => tell([one], exit)), {
      discard: true
    })
  const write = (batch: ReadonlyArray<Waiting>) =>
    Effect.flatMap(Effect.exit(together(batch)), (exit) =>
      Exit.isFailure(exit) && batch.length > 1 ? apart(batch) : tell(batch, exit)
    )
  const next = Effect.flatMap(Queue.takeBetween(queue, 1, writtenAtOnce), (batch) =>
    Effect.uninterruptible(write(Chunk.toReadonlyArray(batch)))
  )
  yield* Effect.forkScoped(
    Effect.all(
      Array.from({ length: writers }, () => Effect.forever(next)),
      { concurrency: writers, discard: true }
    )
  )
  return {
    write: (outcome: Outcome) =>
      Effect.gen(function* () {
        const written = yield* Deferred.make<void>()
        yield* Queue.offer(queue, { ...outcome, written })
        yield* Deferred.await(written)
      })
  }
})
