import { createHash } from "node:crypto"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Context, Data, DateTime, Duration, Effect, FiberRef, Layer, Option, Redacted, Schema } from "effect"
import { nextId } from "./Id.ts"
import { Seal } from "./Seal.ts"

/** The key came with another request before: the first one stands. */
export class KeyReused extends Data.TaggedError("KeyReused")<{}> {}

/** Who repeats what: digests, so that neither credentials nor bodies are stored. */
export interface Claim {
  readonly caller: string
  readonly key: string
  readonly request: string
}

export type Begun = Data.TaggedEnum<{
  /** To be carried out by whoever asked, under this id: the same one when an earlier try was cut off. */
  Fresh: { readonly id: string }
  Answered: { readonly answer: string }
  /** Another request with the same key is under way. */
  Running: {}
}>
export const Begun = Data.taggedEnum<Begun>()

/** How long an answer is kept (contract, part 2, `Idempotency-Key`). */
const kept = Duration.hours(24)
/** From then on a request that neither answered nor failed is taken for cut off. */
const lease = Duration.minutes(2)

export const digestOf = (...parts: ReadonlyArray<string>): string => {
  const hash = createHash("sha256")
  parts.forEach((part) => hash.update(part).update("\0"))
  return hash.digest("hex")
}

const current = FiberRef.unsafeMake(Option.none<string>())

export const underRequest = <A, E, R>(id: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.locally(effect, current, Option.some(id))

/**
 * An id for the one thing that the running request makes: the same one when an earlier try of an idempotent request was
 * cut off, so that what is inserted under it is made once.
 */
export const idOfRequest: Effect.Effect<string> = Effect.flatMap(
  FiberRef.get(current),
  Option.match({ onNone: () => nextId, onSome: Effect.succeed })
)

const Row = Schema.Struct({
  id: Schema.UUID,
  request: Schema.String,
  answerSealed: Schema.OptionFromNullOr(Schema.String)
})

/**
 * Requests that are carried out once however often they are sent. Within a transaction `begin` waits for whoever holds
 * the same key in another one; outside it answers `Running`. Answers are sealed: some carry a secret.
 */
export class Idempotency extends Context.Tag("gatehouse/kit/Idempotency")<
  Idempotency,
  {
    readonly begin: (claim: Claim) => Effect.Effect<Begun, KeyReused>
    readonly finish: (claim: Claim, id: string, answer: string) => Effect.Effect<void>
    /** Nothing was done: the key is free again. */
    readonly abandon: (claim: Claim) => Effect.Effect<void>
  }
>() {
  static readonly layer = Layer.effect(
    Idempotency,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const seal = yield* Seal

      /** None when another request has the key: what is older than a day, or was cut off, is no obstacle. */
      const take = Effect.fn("Idempotency.take")(function* ({ caller, key, request }: Claim) {
        const now = yield* DateTime.now
        const at = (duration: Duration.DurationInput) => DateTime.toDateUtc(DateTime.addDuration(now, duration))
        const outdated = DateTime.toDateUtc(DateTime.subtractDuration(now, kept))
        const createdAt = DateTime.toDateUtc(now)
        const row = { caller, key, id: yield* nextId, request, leasedUntil: at(lease), createdAt }
        return yield* sql`
          INSERT INTO idempotency_keys AS known ${sql.insert(row)}
          ON CONFLICT (caller, key) DO UPDATE SET
            id = CASE WHEN known.created_at < ${outdated} THEN EXCLUDED.id ELSE known.id END,
            request = EXCLUDED.request, answer_sealed = NULL,
            leased_until = EXCLUDED.leased_until, created_at = EXCLUDED.created_at
          WHERE known.created_at < ${outdated}
            OR (known.answer_sealed IS NULL AND known.leased_until < ${createdAt} AND known.request = EXCLUDED.request)
          RETURNING id, request, answer_sealed`
      })
      const taken = (claim: Claim) =>
        Effect.map(Effect.flatMap(take(claim), Schema.decodeUnknown(Schema.Array(Row))), ([row]) =>
          Option.fromNullable(row)
        ).pipe(Effect.orDie)
      const held = SqlSchema.findOne({
        Request: Schema.Struct({ caller: Schema.String, key: Schema.String }),
        Result: Row,
        execute: ({ caller, key }) => sql`
          SELECT id, request, answer_sealed FROM idempotency_keys WHERE caller = ${caller} AND key = ${key}`
      })

      const begin: (claim: Claim) => Effect.Effect<Begun, KeyReused> = Effect.fn("Idempotency.begin")(function* (
        claim: Claim
      ) {
        const mine = yield* taken(claim)
        if (Option.isSome(mine)) return Begun.Fresh({ id: mine.value.id })
        const other = yield* Effect.orDie(held(claim))
        if (Option.isNone(other)) return Begun.Running()
        if (other.value.request !== claim.request) return yield* new KeyReused()
        if (Option.isNone(other.value.answerSealed)) return Begun.Running()
        const answer = yield* Effect.orDie(seal.open(other.value.answerSealed.value, other.value.id))
        return Begun.Answered({ answer: Redacted.value(answer) })
      })

      const finish = Effect.fn("Idempotency.finish")(function* ({ caller, key }: Claim, id: string, answer: string) {
        const sealed = yield* seal.seal(Redacted.make(answer), id)
        yield* sql`
          UPDATE idempotency_keys SET answer_sealed = ${sealed}
          WHERE caller = ${caller} AND key = ${key} AND id = ${id}`
      }, Effect.orDie)

      const abandon = Effect.fn("Idempotency.abandon")(function* ({ caller, key }: Claim) {
        yield* sql`
          DELETE FROM idempotency_keys WHERE caller = ${caller} AND key = ${key} AND answer_sealed IS NULL`
      }, Effect.orDie)

      return Idempotency.of({ begin, finish, abandon })
    })
  )
}
