import type { SqlError } from "@effect/sql/SqlError"
import { Option, Schema } from "effect"

/** PostgreSQL, appendix A, class 23: `unique_violation`. */
const UniqueViolation = Schema.Struct({ code: Schema.Literal("23505"), constraint: Schema.String })

/** The name of the unique constraint or index that a statement met; absent for every other error. */
export const sqlConstraint = (error: SqlError): Option.Option<string> =>
  Option.map(Schema.decodeUnknownOption(UniqueViolation)(error.cause), ({ constraint }) => constraint)
