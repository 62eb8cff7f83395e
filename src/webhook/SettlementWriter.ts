import { Array, Chunk, Deferred, Duration, Effect, Exit, Queue } from "effect"
import { supervise } from "../kit/Supervise.ts"
import type { Settlement } from "./domain/Delivery.ts"
import type { EndpointId } from "./domain/Webhook.ts"
import { QueueRepo } from "./QueueRepo.ts"

/** What became of some attempts of an endpoint. */
export interface Outcome {
  readonly settlements: ReadonlyArray<Settlement>
  readonly well: ReadonlyArray<EndpointId>
}

type Written = (exit: Exit.Exit<void>) => void

interface Waiting extends Outcome {
  readonly written: Written
  /** Whose giver has another way when it cannot be written with the others. */
  readonly isOffered: boolean
}

/** Outcomes that wait to be written; whoever has one more has to wait. */
const waitingAtMost = 16_384
const writtenAtOnce = 512
/** While one statement is on its way, the next fills. */
const writers = 2
/** Between two statements of a writer. */
const gathering = Duration.millis(25)

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
    Effect.sync(() => batch.forEach(({ written }) => written(exit)))

  /** What cannot be written is the trouble of one endpoint, not of all that happened to be beside it. */
  const apart = (batch: ReadonlyArray<Waiting>) =>
    Effect.forEach(batch, (one) => Effect.flatMap(Effect.exit(together([one])), (exit) => tell([one], exit)), {
      discard: true
    })
  const write = (batch: ReadonlyArray<Waiting>) =>
    Effect.flatMap(Effect.exit(together(batch)), (exit) => {
      if (Exit.isSuccess(exit) || batch.length === 1) return tell(batch, exit)
      const [others, offered] = Array.partition(batch, ({ isOffered }) => isOffered)
      return Effect.zipRight(tell(offered, exit), apart(others))
    })
  const next = Queue.takeBetween(queue, 1, writtenAtOnce).pipe(
    Effect.flatMap((batch) => Effect.uninterruptible(write(Chunk.toReadonlyArray(batch)))),
    Effect.zipRight(Effect.sleep(gathering))
  )
  const writing = Effect.all(
    Array.makeBy(writers, () => Effect.forever(next)),
    { concurrency: writers, discard: true }
  )
  yield* Effect.forkScoped(supervise("SettlementWriter", writing))
  return {
    write: (outcome: Outcome) =>
      Effect.gen(function* () {
        const done = yield* Deferred.make<void>()
        yield* Queue.offer(queue, { ...outcome, written: (exit) => Deferred.unsafeDone(done, exit), isOffered: false })
        yield* Deferred.await(done)
      }),
    /** Without a fiber that waits. False when too much waits already: then nobody will be told. */
    offer: (outcome: Outcome, written: Written) => queue.unsafeOffer({ ...outcome, written, isOffered: true })
  }
})
