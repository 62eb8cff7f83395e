import { HttpApiSchema } from "@effect/platform"
import { Data, Schema } from "effect"

/** The error body of both APIs (contract, part 2): a sentence, and sentences per failing field by dotted path. */
export const ProblemBody = Schema.Struct({
  message: Schema.String.annotations({ description: "A sentence for a person" }),
  errors: Schema.Record({ key: Schema.String, value: Schema.Array(Schema.String) }).annotations({
    description: "Sentences by dotted field path; empty where no field is to blame"
  })
}).annotations({
  identifier: "Problem",
  examples: [{ message: "The given data was invalid.", errors: { email: ["is missing"] } }]
})

export type FieldErrors = { readonly [field: string]: ReadonlyArray<string> }

interface ProblemFields {
  readonly message: string
  readonly errors?: FieldErrors
  /** Whole seconds after which the caller may try again: becomes `Retry-After`. */
  readonly retryAfter?: number
}

const problem = <Tag extends string>(tag: Tag, status: number, description: string) => {
  class Problem extends Data.TaggedError(tag)<ProblemFields> {
    readonly status = status
  }
  const wire = Schema.transform(ProblemBody, Schema.instanceOf(Problem), {
    strict: true,
    decode: (body) => new Problem(body),
    encode: (error) => ({ message: error.message, errors: error.errors ?? {} })
  }).annotations({ ...HttpApiSchema.annotations({ status }), description })
  return { Problem, wire }
}

const badRequest = problem("BadRequest", 400, "The body is not JSON, or the cursor is not one of ours.")
export class BadRequest extends badRequest.Problem {
  static readonly wire = badRequest.wire
}

const unauthenticated = problem("Unauthenticated", 401, "No credential, or one that is unknown, revoked or expired.")
export class Unauthenticated extends unauthenticated.Problem {
  static readonly wire = unauthenticated.wire
}

const forbidden = problem("Forbidden", 403, "The credential is valid but lacks the ability or role.")
export class Forbidden extends forbidden.Problem {
  static readonly wire = forbidden.wire
}

const notFound = problem("NotFound", 404, "No such record, or none that the caller may see.")
export class NotFound extends notFound.Problem {
  static readonly wire = notFound.wire
}

const conflict = problem("Conflict", 409, "A unique identifier is taken, or the state does not permit the call.")
export class Conflict extends conflict.Problem {
  static readonly wire = conflict.wire
}

const invalid = problem("Invalid", 422, "Fields are missing or wrong; `errors` names every one of them.")
export class Invalid extends invalid.Problem {
  static readonly wire = invalid.wire
}

const tooMany = problem("TooMany", 429, "Too many calls; `Retry-After` says when to come back.")
export class TooMany extends tooMany.Problem {
  static readonly wire = tooMany.wire
}

const badGateway = problem("BadGateway", 502, "A store, platform or provider answered wrongly.")
export class BadGateway extends badGateway.Problem {
  static readonly wire = badGateway.wire
}

const unavailable = problem("Unavailable", 503, "A store, platform, provider or the storage does not answer.")
export class Unavailable extends unavailable.Problem {
  static readonly wire = unavailable.wire
}

export type Problem =
  BadRequest | Unauthenticated | Forbidden | NotFound | Conflict | Invalid | TooMany | BadGateway | Unavailable
