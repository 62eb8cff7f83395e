import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, String } from "effect"
import type { Pool, PoolClient } from "pg"
import { DatabasePool } from "../../src/sql/Database.ts"

/** Counts the steps of a life from its birth and ends it after the chosen one: what was done stays done, nobody hears of it. */
export class Mortal {
  isBorn = false
  isDead = false
  /** Taken since its birth. */
  steps = 0
  readonly lastStep: number

  constructor(lastStep: number) {
    this.lastStep = lastStep
  }

  /** True when the caller may hear the answer of what it did. */
  survives(): boolean {
    if (this.isDead || !this.isBorn) return !this.isDead
    this.steps += 1
    this.isDead = this.steps >= this.lastStep
    return !this.isDead
  }

  /** A call to the outside world: done, then maybe not heard of. */
  readonly call = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => (this.isDead ? this.silence : effect)).pipe(
      Effect.tap(() => (this.survives() ? Effect.void : this.silence))
    )

  private readonly silence: Effect.Effect<never> = Effect.dieMessage("killed")
}

/** What the database was asked by any life and has not answered. */
let unanswered = 0

export const isAtRest = () => unanswered === 0

const counted = <Answer extends ReadonlyArray<unknown>>(callback: (...answer: Answer) => void) => {
  unanswered += 1
  return (...answer: Answer) => {
    unanswered -= 1
    callback(...answer)
  }
}

type Callback = (error: Error | null, result?: unknown) => void

const mortalClient = (client: PoolClient, mortal: Mortal): PoolClient =>
  new Proxy(client, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key)
      if (key !== "query") return typeof value === "function" ? value.bind(target) : value
      return (text: unknown, values: unknown, callback: Callback) => {
        const isCleanUp = text === "ROLLBACK"
        if (mortal.isDead && !isCleanUp) return callback(new Error("killed"))
        return Reflect.apply(target.query, target, [
          text,
          values,
          counted((error: Error | null, result?: unknown) =>
            isCleanUp || error !== null || mortal.survives() ? callback(error, result) : callback(new Error("killed"))
          )
        ])
      }
    }
  })

const mortalPool = (pool: Pool, mortal: Mortal): Pool =>
  new Proxy(pool, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key)
      if (key !== "connect") return typeof value === "function" ? value.bind(target) : value
      return (callback: (error: Error | undefined, client: PoolClient | undefined, release: unknown) => void) =>
        target.connect(
          counted((error: Error | undefined, client: PoolClient | undefined, release: unknown) =>
            callback(error, client === undefined ? client : mortalClient(client, mortal), release)
          )
        )
    }
  })

/** The database as one life sees it. */
export const database = (mortal: Mortal) =>
  Layer.unwrapEffect(
    Effect.map(DatabasePool, (pool) =>
      PgClient.layerFromPool({
        acquire: Effect.succeed(mortalPool(pool, mortal)),
        transformQueryNames: String.camelToSnake,
        transformResultNames: String.snakeToCamel,
        transformJson: false
      })
    )
  )
