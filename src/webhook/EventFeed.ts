import { Chunk, Context, Deferred, Effect, FiberHandle, FiberId, Layer, Option, Schedule, Stream } from "effect"
import { supervise } from "../kit/Supervise.ts"
import { EventLogRepo, isAfter, type LoggedEvent, type Position } from "./EventLogRepo.ts"

const lookEvery = "100 millis"

export interface Reader {
  /** Whose events; none: of all accounts. */
  readonly ownerId: Option.Option<string>
  /** The event after which to begin; none: with what happens from now on. */
  readonly after: Option.Option<string>
}

/** What one look found: everything up to `to` after the look before. */
interface News {
  readonly nth: number
  readonly to: Position
  readonly events: ReadonlyArray<LoggedEvent>
}

/** How far a reader is: `nth` is the news that it has, none while it has to read for itself. */
interface Progress {
  readonly reached: Position
  readonly nth: Option.Option<number>
}

const wants = ({ ownerId }: Reader, event: LoggedEvent) =>
  Option.match(ownerId, { onNone: () => true, onSome: (id) => id === event.ownerId })

/**
 * The events of accounts as they are committed, by whichever process. One look at the table every 100 ms serves all
 * readers of this process that keep up, and there is none while there are no readers. Who is slower, or comes with an
 * older place, reads the table: nothing is buffered for anybody.
 */
export class EventFeed extends Context.Tag("gatehouse/webhook/EventFeed")<
  EventFeed,
  {
    /** Each event once, in the order of commits, for ever. */
    readonly events: (reader: Reader) => Stream.Stream<LoggedEvent>
  }
>() {
  static readonly layer = Layer.scoped(
    EventFeed,
    Effect.gen(function* () {
      const repo = yield* EventLogRepo
      const tailing = yield* FiberHandle.make<never>()
      let readers = 0
      let news = Option.none<News>()
      let bell = Deferred.unsafeMake<void>(FiberId.none)

      let count = 0

      const ring = (events: ReadonlyArray<LoggedEvent>, to: Position) => {
        count += 1
        news = Option.some({ nth: count, to, events })
        const rung = bell
        bell = Deferred.unsafeMake<void>(FiberId.none)
        Deferred.unsafeDone(rung, Effect.void)
      }

      /** The first look tells nothing: whoever is there already reads for itself what happened before it. */
      const begin = (tip: Position) => {
        count += 1
        ring([], tip)
      }

      const look = Effect.gen(function* () {
        const tip = yield* repo.tip()
        if (Option.isNone(news)) {
          yield* Effect.sync(() => begin(tip))
          return true
        }
        const after = news.value.to
        const { events, isAll } = yield* repo.between({ after, before: tip, ownerId: null })
        const last = Option.fromNullable(events.at(-1))
        const to = isAll ? tip : Option.getOrElse(last, () => tip)
        if (events.length > 0) ring(events, to)
        return isAll
      })
      const tail = Effect.repeat(look, { until: (isAll) => isAll }).pipe(
        Effect.repeat(Schedule.spaced(lookEvery)),
        Effect.zipRight(Effect.never)
      )

      const arrive = Effect.suspend(() => {
        readers += 1
        return readers === 1 ? FiberHandle.run(tailing, supervise("EventFeed", tail)) : Effect.void
      })
      const leave = Effect.suspend(() => {
        readers -= 1
        if (readers > 0) return Effect.void
        news = Option.none()
        return FiberHandle.clear(tailing)
      })

      const start = ({ after }: Reader) =>
        Effect.gen(function* () {
          const known = yield* Effect.transposeMapOption(after, repo.positionOf)
          const reached = yield* Option.match(Option.flatten(known), { onNone: repo.tip, onSome: Effect.succeed })
          return { reached, nth: Option.none() } satisfies Progress
        })

      const read = (reader: Reader, { reached }: Progress) =>
        Effect.gen(function* () {
          const before = count
          const tip = yield* repo.tip()
          const ownerId = Option.getOrNull(reader.ownerId)
          const { events, isAll } = yield* repo.between({ after: reached, before: tip, ownerId })
          const last = Option.filter(Option.fromNullable(events.at(-1)), () => !isAll)
          const next = Option.match(last, {
            onNone: (): Progress => ({ reached: tip, nth: Option.some(before) }),
            onSome: (event): Progress => ({ reached: event, nth: Option.none() })
          })
          return [Chunk.unsafeFromArray(events), Option.some(next)] as const
        })

      /** What comes next for a reader that has the news up to `has`. */
      const follow = (reader: Reader, progress: Progress, has: number) =>
        Effect.gen(function* () {
          if (has === count) yield* Deferred.await(bell)
          const latest = Option.filter(news, (found) => found.nth === has + 1)
          if (Option.isNone(latest)) return yield* read(reader, progress)
          const { events, to } = latest.value
          const own = events.filter((event) => wants(reader, event) && isAfter(event, progress.reached))
          const reached = isAfter(to, progress.reached) ? to : progress.reached
          return [Chunk.unsafeFromArray(own), Option.some<Progress>({ reached, nth: Option.some(has + 1) })] as const
        })

      const events = (reader: Reader) =>
        Stream.unwrapScoped(
          Effect.gen(function* () {
            yield* Effect.acquireRelease(arrive, () => leave)
            return Stream.paginateChunkEffect(yield* start(reader), (progress) =>
              Option.match(progress.nth, {
                onNone: () => read(reader, progress),
                onSome: (has) => follow(reader, progress, has)
              })
            )
          })
        )
      return EventFeed.of({ events })
    })
  ).pipe(Layer.provide(EventLogRepo.Default))
}
