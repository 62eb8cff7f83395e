import { Either, Encoding, Schema } from "effect"
import { fields } from "./Envelope.ts"

export const limit = Schema.optionalWith(Schema.NumberFromString.pipe(Schema.int(), Schema.between(1, 100)), {
  default: () => 50
}).annotations({ description: "Records in a page" })

export const cursor = Schema.optional(Schema.String).annotations({ description: "Opaque, from `next_cursor`" })

/** Query of a list without filters. */
export const PageQuery = fields({ limit, cursor })

const RecordId = Schema.decodeUnknownEither(Schema.UUID)

/** Cursors are opaque to callers: the id of the last record of the page before. */
export const encodeCursor = (id: string): string => Encoding.encodeBase64Url(id)

/** Left for anything that `encodeCursor` cannot have made. */
export const decodeCursor = (text: string): Either.Either<string, unknown> =>
  Either.flatMap(Encoding.decodeBase64UrlString(text), RecordId)
