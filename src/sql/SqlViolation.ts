import type { SqlError } from "@effect/sql/SqlError"
import { Option, Schema } from "effect"

/** PostgreSQL, appendix A, class 23: `unique_violation`. */
const UniqueViolation = Schema.Struct({ code: Schema.Literal("23505"), constraint: Schema.String })

/** The name of the unique constraint or index that a statement met; absent for every other error. */
export const sqlConstraint = (error: SqlError): Option.Option<string> =>
  Option.map(Schema.decodeUnknownOption(UniqueViolation)(error.cause), ({ constraint }) => constraint)

/** PostgreSQL, appendix A, class 23: `foreign_key_violation`. */
const ReferenceViolation = Schema.Struct({ code: Schema.Literal("23503"), constraint: Schema.String })

/** The name of the foreign key that still holds a row, or misses one; absent for every other error. */
export const sqlReference = (error: SqlError): Option.Option<string> =>
  Option.map(Schema.decodeUnknownOption(ReferenceViolation)(error.cause), ({ constraint }) => constraint)
