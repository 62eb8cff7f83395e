import { Context, Deferred, Effect, Layer } from "effect"

/** That the server takes no more: answers that would last for ever end then, and are asked for again elsewhere. */
export class Closing extends Context.Tag("gatehouse/http/Closing")<
  Closing,
  { readonly begin: Effect.Effect<void>; readonly begun: Effect.Effect<void> }
>() {
  static readonly layer = Layer.effect(
    Closing,
    Effect.map(Deferred.make<void>(), (signal) => ({
      begin: Effect.asVoid(Deferred.succeed(signal, undefined)),
      begun: Deferred.await(signal)
    }))
  )
}
