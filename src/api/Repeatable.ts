import { OpenApi } from "@effect/platform"
import { Context } from "effect"

/**
 * What an `Idempotency-Key` means for an endpoint (contract, part 2).
 *
 * - `together`: the change and the answer are kept in one transaction. The default of `POST`.
 * - `leased`: the endpoint waits for something outside (a name server, a store, a platform, a password hash), and no
 *   transaction stays open meanwhile; a repeat waits for the first one's answer.
 * - `never`: the header is not looked at: logins, and what is by nature the same when repeated.
 */
export type Repetition = "together" | "leased" | "never"

export class Repeatable extends Context.Tag("gatehouse/api/Repeatable")<Repeatable, Repetition>() {}

/** Marks operations of a document until it is finished (`Document`). */
export const unkeyed = "x-unkeyed"

/** Annotation of an endpoint. */
export const repeatable = (repetition: Repetition): Context.Context<Repeatable> =>
  Context.make(Repeatable, repetition).pipe(
    Context.add(OpenApi.Transform, (operation) =>
      repetition === "never" ? { ...operation, [unkeyed]: true } : operation
    )
  )
