import { Schema } from "effect"
import { storableId, storableText } from "../platform/domain/StorableText.ts"

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

/** Text that is stored: NUL is refused, and half a surrogate pair, of an emoji that was cut, becomes U+FFFD. */
export const whole = <I>(text: Schema.Schema<string, I>) =>
  Schema.transform(
    text.pipe(Schema.filter((written) => !written.includes("\0") || "must not contain NUL", { jsonSchema: {} })),
    Schema.String,
    { strict: true, decode: storableText, encode: (stored) => stored }
  )

/** What names a record in a path or a query: any text, of which one that cannot be stored names none. */
export const Key = Schema.transform(Schema.String, Schema.String, {
  strict: true,
  decode: storableId,
  encode: (key) => key
})

/** Text that a person types: no control characters. */
export const Name = whole(
  text(255).pipe(
    Schema.filter((name) => !/\p{Cc}/u.test(name) || "must not contain control characters", { jsonSchema: {} })
  )
)

/** The identifier of a product, entitlement or offering: what code refers to. */
export const Identifier = text(255).pipe(
  Schema.pattern(/^[\w.:$-]+$/, { message: () => "must consist of letters, digits and . _ : $ -" })
)
