import { Context, Deferred, type Duration, Effect, Layer, Option } from "effect"
import type { Message, MessageId } from "./domain/Message.ts"
import { MessageRepo } from "./MessageRepo.ts"

/** How often the row is asked in case that another process settled the message. */
const lookAgain = "1 second"

/** Waiting for outgoing messages to be settled: a hint in memory, the row as the truth. */
export class SendWatch extends Context.Tag("gatehouse/channel/SendWatch")<
  SendWatch,
  {
    readonly settle: (id: MessageId) => Effect.Effect<void>
    /** The message as it stands when it is settled or patience has ended; none when it is gone. */
    readonly settled: (id: string, patience: Duration.DurationInput) => Effect.Effect<Option.Option<Message>>
  }
>() {
  static readonly layer = Layer.effect(
    SendWatch,
    Effect.gen(function* () {
      const repo = yield* MessageRepo
      const waiting = new Map<string, Deferred.Deferred<void>>()

      const settle = (id: MessageId) =>
        Option.match(Option.fromNullable(waiting.get(id)), {
          onNone: () => Effect.void,
          onSome: (signal) => Effect.asVoid(Deferred.succeed(signal, undefined))
        })

      const settled = Effect.fn("SendWatch.settled")(function* (id: string, patience: Duration.DurationInput) {
        const signal = yield* Deferred.make<void>()
        waiting.set(id, signal)
        const look = Effect.gen(function* () {
          const message = yield* repo.byId(id)
          if (Option.isNone(message) || message.value.isSettled) return true
          yield* Effect.timeoutOption(Deferred.await(signal), lookAgain)
          return false
        })
        yield* Effect.repeat(look, { until: (isSettled) => isSettled }).pipe(
          Effect.timeoutOption(patience),
          Effect.ensuring(Effect.sync(() => waiting.delete(id)))
        )
        return yield* repo.byId(id)
      })

      return SendWatch.of({ settle, settled })
    })
  )
}
