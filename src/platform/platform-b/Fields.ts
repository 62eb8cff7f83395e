import { Array, Option, Schema } from "effect"

/** An id or a time: text where it has 16 digits or more (`quoteBigIntegers`), else perhaps a number. Text from here on. */
export const Id = Schema.Union(
  Schema.NonEmptyString,
  Schema.transform(Schema.Number, Schema.String, { strict: true, decode: String, encode: Number })
)

/** What was decoded already is not looked at again: lists in lists would be at every level. */
const decoded = <A>() => Schema.declare((_): _ is A => true)

/** A field that may be missing, null, or of a shape that we do not know, which counts as missing. */
export const perhaps = <A, I>(schema: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknownOption(schema)
  return Schema.optionalToRequired(Schema.Unknown, decoded<Option.Option<A>>(), {
    decode: Option.flatMap((value) => decode(value)),
    encode: (value): Option.Option<unknown> => value
  })
}

/** A list without the elements of a shape that we do not know: one odd element must not hide the others. */
export const readable = <A, I>(schema: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknownOption(schema)
  return Schema.transform(Schema.Array(Schema.Unknown), decoded<ReadonlyArray<A>>(), {
    strict: true,
    decode: (elements) => Array.filterMap(elements, (element) => decode(element)),
    encode: (elements): ReadonlyArray<unknown> => elements
  })
}
