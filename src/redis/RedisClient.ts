import { Context, Data, Effect, Layer, Redacted } from "effect"
import { Redis } from "ioredis"

export class RedisUnreachable extends Data.TaggedError("RedisUnreachable")<{ readonly message: string }> {}

/** The scoped connection; a command that fails is a defect, since every user of it has been answered 503 then. */
export class RedisClient extends Context.Tag("gatehouse/redis/RedisClient")<
  RedisClient,
  { readonly use: <A>(commands: (client: Redis) => Promise<A>) => Effect.Effect<A> }
>() {
  static readonly layer = (url: Redacted.Redacted<string>) =>
    Layer.scoped(
      RedisClient,
      Effect.gen(function* () {
        const client = yield* Effect.acquireRelease(
          Effect.tryPromise({
            try: async () => {
              const connection = new Redis(Redacted.value(url), { lazyConnect: true, maxRetriesPerRequest: 2 })
              connection.on("error", () => undefined)
              await connection.connect()
              return connection
            },
            catch: () => new RedisUnreachable({ message: "REDIS_URL names a Redis server that does not answer" })
          }),
          (connection) => Effect.promise(() => connection.quit()).pipe(Effect.timeoutOption("2 seconds"))
        )
        return RedisClient.of({ use: (commands) => Effect.promise(() => commands(client)) })
      })
    )
}
