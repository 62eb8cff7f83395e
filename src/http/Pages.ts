import { Effect, Either, Option } from "effect"
import { decodeCursor, encodeCursor } from "../api/Page.ts"
import { BadRequest } from "../api/Problem.ts"

/** Where a page begins: a foreign cursor is the caller's mistake. */
export const pageOf = (query: {
  readonly limit: number
  readonly cursor?: string | undefined
}): Effect.Effect<{ readonly before: Option.Option<string>; readonly limit: number }, BadRequest> =>
  query.cursor === undefined
    ? Effect.succeed({ before: Option.none(), limit: query.limit })
    : Either.match(decodeCursor(query.cursor), {
        onLeft: () => Effect.fail(new BadRequest({ message: "The cursor is not one of ours." })),
        onRight: (id) => Effect.succeed({ before: Option.some(id), limit: query.limit })
      })

/** The list envelope: a cursor only where the page was full. */
export const pageAnswer = <Row, Item>(
  rows: ReadonlyArray<Row>,
  limit: number,
  id: (row: Row) => string,
  item: (row: Row) => Item
): { readonly data: ReadonlyArray<Item>; readonly next_cursor: string | null } => {
  const last = rows.length === limit ? rows.at(-1) : undefined
  return { data: rows.map(item), next_cursor: last === undefined ? null : encodeCursor(id(last)) }
}
