/** What a bootstrap request names, well-formed or not: identifiers may be anything. */
export interface Naming {
  readonly entitlements: ReadonlyArray<{
    readonly identifier?: unknown
    readonly productIdentifiers: ReadonlyArray<unknown>
  }>
  readonly products: ReadonlyArray<{
    readonly store?: unknown
    readonly identifier?: unknown
    readonly entitlements: ReadonlyArray<unknown>
  }>
  readonly offerings: ReadonlyArray<{
    readonly identifier?: unknown
    readonly isCurrent?: unknown
    readonly packages: ReadonlyArray<{ readonly identifier?: unknown; readonly productIdentifier?: unknown }>
  }>
}

/** Identifiers that the app has already. */
export interface Known {
  readonly products: ReadonlyArray<{ readonly identifier: string }>
  readonly entitlements: ReadonlyArray<{ readonly identifier: string }>
}

export interface Fault {
  /** Dotted, in wire names. */
  readonly path: string
  readonly sentence: string
}

const unknownName = "names nothing in this app or request"

/** Every record that a bootstrap request describes twice, and every current offering but the first. */
export const repeatsIn = (request: Naming): ReadonlyArray<Fault> => [
  ...repeated("entitlements", request.entitlements, ({ identifier }) => identifier),
  ...repeated("products", request.products, ({ identifier, store }) =>
    typeof identifier === "string" && typeof store === "string" ? `${store} ${identifier}` : undefined
  ),
  ...repeated("offerings", request.offerings, ({ identifier }) => identifier),
  ...request.offerings.flatMap(({ packages }, index) =>
    repeated(`offerings.${index}.packages`, packages, ({ identifier }) => identifier)
  ),
  ...request.offerings
    .flatMap(({ isCurrent }, index) => (isCurrent === true ? [index] : []))
    .slice(1)
    .map((index) => ({ path: `offerings.${index}.is_current`, sentence: "another offering is the current one" }))
]

/**
 * Every name in a bootstrap request that neither the request nor the app knows (contract, part 3, "Bootstrap").
 * Identifiers that are no text are somebody else's fault and pass here.
 */
export const unknownNamesIn = (request: Naming, known: Known): ReadonlyArray<Fault> => {
  const products = namesOf(known.products, request.products)
  const entitlements = namesOf(known.entitlements, request.entitlements)
  return [
    ...request.entitlements.flatMap(({ productIdentifiers }, index) =>
      unknown(`entitlements.${index}.product_identifiers`, productIdentifiers, products)
    ),
    ...request.products.flatMap((product, index) =>
      unknown(`products.${index}.entitlements`, product.entitlements, entitlements)
    ),
    ...request.offerings.flatMap(({ packages }, index) =>
      packages.flatMap(({ productIdentifier }, position) =>
        typeof productIdentifier !== "string" || products.has(productIdentifier)
          ? []
          : [{ path: `offerings.${index}.packages.${position}.product_identifier`, sentence: unknownName }]
      )
    )
  ]
}

const namesOf = (...sources: ReadonlyArray<ReadonlyArray<{ readonly identifier?: unknown }>>): ReadonlySet<unknown> =>
  new Set(sources.flatMap((records) => records.map(({ identifier }) => identifier)))

const unknown = (path: string, names: ReadonlyArray<unknown>, known: ReadonlySet<unknown>): ReadonlyArray<Fault> =>
  names.flatMap((name, position) =>
    typeof name !== "string" || known.has(name) ? [] : [{ path: `${path}.${position}`, sentence: unknownName }]
  )

const repeated = <Row>(path: string, rows: ReadonlyArray<Row>, keyOf: (row: Row) => unknown): ReadonlyArray<Fault> => {
  const seen = new Set<string>()
  return rows.flatMap((row, position) => {
    const key = keyOf(row)
    if (typeof key !== "string") return []
    if (seen.has(key)) return [{ path: `${path}.${position}.identifier`, sentence: "appears twice in this request" }]
    seen.add(key)
    return []
  })
}
