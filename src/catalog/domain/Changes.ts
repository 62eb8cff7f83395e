/** The value of a field after a change: an absent one stays, `null` is a value (contract, part 2, `PATCH`). */
export const kept = <A>(given: A | undefined, old: A): A => (given === undefined ? old : given)

/** What a change may carry for the fields of a record. */
export type Changes<Fields> = { readonly [Field in keyof Fields]?: Fields[Field] | undefined }

/** Positions of names that are not among the known ones. */
export const unknownAmong = (
  names: ReadonlyArray<string>,
  known: ReadonlyArray<{ readonly identifier: string }>
): ReadonlyArray<number> => {
  const identifiers = new Set(known.map(({ identifier }) => identifier))
  return names.flatMap((name, position) => (identifiers.has(name) ? [] : [position]))
}
