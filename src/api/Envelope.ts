import { Schema } from "effect"

/** A request body or query: every failing field is reported, not only the first. */
export const fields = <Fields extends Schema.Struct.Fields>(shape: Fields) =>
  Schema.Struct(shape).annotations({ parseOptions: { errors: "all" } })

/** `{"data": …}`: the answer that carries one record. */
export const data = <A, I, R>(record: Schema.Schema<A, I, R>) => Schema.Struct({ data: record })

/** `{"data": […], "next_cursor": …}`: a page of a list, newest first unless said otherwise. */
export const list = <A, I, R>(record: Schema.Schema<A, I, R>) =>
  Schema.Struct({
    data: Schema.Array(record),
    next_cursor: Schema.NullOr(Schema.String).annotations({ description: "Pass as `cursor` for the next page" })
  })

/** A time in an answer: ISO 8601, UTC, milliseconds, `Z`. */
export const Timestamp = Schema.String.annotations({ jsonSchema: { type: "string", format: "date-time" } })

/** A time in a request. */
export const Moment = Schema.DateTimeUtc

/** The answer of every `DELETE`. */
export const Deleted = data(Schema.Struct({ uuid: Schema.String, deleted: Schema.Literal(true) }))

const text = (maximum: number) => Schema.String.pipe(Schema.minLength(1), Schema.maxLength(maximum))

/** Text that a person types: no control characters. */
export const Name = text(255).pipe(
  Schema.filter((name) => !/\p{Cc}/u.test(name) || "must not contain control characters", { jsonSchema: {} })
)

/** The identifier of a product, entitlement or offering: what code refers to. */
export const Identifier = text(255).pipe(
  Schema.pattern(/^[\w.:$-]+$/, { message: () => "must consist of letters, digits and . _ : $ -" })
)
