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

const unkeyed = "x-unkeyed"

/** Annotation of an endpoint. */
export const repeatable = (repetition: Repetition): Context.Context<Repeatable> =>
  Context.make(Repeatable, repetition).pipe(
    Context.add(OpenApi.Transform, (operation) =>
      repetition === "never" ? { ...operation, [unkeyed]: true } : operation
    )
  )

const parameter = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  schema: { type: "string", minLength: 1, maxLength: 255 },
  description:
    "Kept for 24 hours: the same key and request give the first success again (`Idempotency-Replayed: true`), another " +
    "request with the same key gives 409. What was refused is not kept."
}

/** Shows the header in an operation of an API's document: every `POST` but the `never` ones takes it. */
export const documentKey = (method: string, operation: Record<string, unknown>): void => {
  const parameters = Array.isArray(operation["parameters"]) ? operation["parameters"] : []
  if (method === "post" && operation[unkeyed] !== true) operation["parameters"] = [...parameters, parameter]
  delete operation[unkeyed]
}
