import { Deferred, Effect, FiberId, MutableHashMap, Option } from "effect"

/**
 * Runs work once for all who bring it under the same key at the same time; who comes after its end starts it anew. It
 * runs in the scope of whoever makes it: one of several callers who goes away takes the answer from nobody. Keys compare
 * by value, so that they are to be built of what does (`Data.struct` of plain members, no arrays in them).
 */
export const makeSingleFlight = <Key, A, E>() =>
  Effect.map(Effect.scope, (scope) => {
    const flights = MutableHashMap.empty<Key, Deferred.Deferred<A, E>>()

    const start = (key: Key, work: Effect.Effect<A, E>) => {
      const flight = Deferred.unsafeMake<A, E>(FiberId.none)
      MutableHashMap.set(flights, key, flight)
      return Effect.interruptible(work).pipe(
        Effect.ensuring(Effect.sync(() => MutableHashMap.remove(flights, key))),
        Effect.intoDeferred(flight),
        Effect.forkIn(scope),
        Effect.as(flight)
      )
    }

    return (key: Key, work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.suspend(() =>
          Option.match(MutableHashMap.get(flights, key), {
            onSome: Effect.succeed,
            onNone: () => start(key, work)
          })
        ).pipe(Effect.flatMap((flight) => restore(Deferred.await(flight))))
      )
  })
