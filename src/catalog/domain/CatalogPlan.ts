import { kept } from "./Changes.ts"
import type { PackageType } from "./Offering.ts"
import type { ProductType, StoreName } from "./Product.ts"

/** Records of a catalogue under their identifiers: what a bootstrap compares. */
export interface PlannedProduct {
  readonly store: StoreName
  readonly identifier: string
  readonly name: string
  readonly type: ProductType
  readonly subscriptionPeriod: string | null
  readonly priceMicros: number | null
  readonly currency: string | null
}

export interface PlannedEntitlement {
  readonly identifier: string
  readonly name: string
  readonly productIdentifiers: ReadonlyArray<string>
}

export interface PlannedPackage {
  readonly identifier: string
  readonly packageType: PackageType
  readonly productIdentifier: string
}

export interface PlannedOffering {
  readonly identifier: string
  readonly isCurrent: boolean
}

export interface CatalogState {
  readonly products: ReadonlyArray<PlannedProduct>
  readonly entitlements: ReadonlyArray<PlannedEntitlement>
  readonly offerings: ReadonlyArray<PlannedOffering & { readonly packages: ReadonlyArray<PlannedPackage> }>
}

/** What a bootstrap asks for: absent fields keep what there is. */
export interface WantedCatalog {
  readonly products: ReadonlyArray<{
    readonly store: StoreName
    readonly identifier: string
    readonly name: string
    readonly type: ProductType
    readonly subscriptionPeriod?: string | null | undefined
    readonly priceMicros?: number | null | undefined
    readonly currency?: string | null | undefined
    readonly entitlements: ReadonlyArray<string>
  }>
  readonly entitlements: ReadonlyArray<PlannedEntitlement>
  readonly offerings: ReadonlyArray<{
    readonly identifier: string
    readonly isCurrent?: boolean | undefined
    readonly packages: ReadonlyArray<PlannedPackage>
  }>
}

/** Rows of one kind to write, and how many stay as they are. */
export interface Writes<Row> {
  readonly created: ReadonlyArray<Row>
  readonly updated: ReadonlyArray<Row>
  readonly unchanged: number
}

export interface CatalogPlan {
  readonly products: Writes<PlannedProduct>
  readonly entitlements: Writes<PlannedEntitlement>
  readonly offerings: Writes<PlannedOffering>
  readonly packages: Writes<PlannedPackage & { readonly offering: string }>
}

/**
 * What must be written so that a catalogue holds what is wanted (contract, part 3, "Bootstrap"): adds and changes, deletes
 * nothing. Products join entitlements, never leave them; the current offering is the wanted one. The request is free of
 * faults (`CatalogFaults`). Planning again on the outcome writes nothing.
 */
export const planOf = (state: CatalogState, wanted: WantedCatalog): CatalogPlan => ({
  products: productWrites(state, wanted),
  entitlements: entitlementWrites(state, wanted),
  offerings: offeringWrites(state, wanted),
  packages: packageWrites(state, wanted)
})

const byIdentifier = <Row extends { readonly identifier: string }>(
  rows: ReadonlyArray<Row>
): ReadonlyMap<string, Row> => new Map(rows.map((row) => [row.identifier, row]))

/** Products are told apart by store and identifier. */
export const productKey = ({ identifier, store }: { readonly identifier: string; readonly store: StoreName }) =>
  `${store} ${identifier}`

/** Whether a row is as it shall be; what else it carries does not matter. Fields are scalars or lists of text. */
const isSame = (old: object, next: object): boolean => {
  const before = new Map<string, unknown>(Object.entries(old))
  return Object.entries(next).every(([field, value]) => isEqual(before.get(field), value))
}

const isEqual = (one: unknown, other: unknown): boolean =>
  Array.isArray(one) && Array.isArray(other)
    ? one.length === other.length && one.every((item, position) => item === other[position])
    : one === other

/** Sorts what shall be under what is: rows of scalars and lists of text. */
const compared = <Row extends object>(
  pairs: ReadonlyArray<{ readonly old: Row | undefined; readonly next: Row; readonly isNamed?: boolean }>
): Writes<Row> => {
  const created = pairs.flatMap(({ next, old }) => (old === undefined ? [next] : []))
  const updated = pairs.flatMap(({ next, old }) => (old !== undefined && !isSame(old, next) ? [next] : []))
  const named = pairs.filter(({ isNamed = true }) => isNamed)
  const unchanged = named.filter(({ next, old }) => old !== undefined && isSame(old, next)).length
  return { created, updated, unchanged }
}

const productWrites = (state: CatalogState, wanted: WantedCatalog) => {
  const existing = new Map(state.products.map((product) => [productKey(product), product]))
  return compared<PlannedProduct>(
    wanted.products.map((product) => {
      const old = existing.get(productKey(product))
      const { identifier, name, store, type } = product
      const next = {
        store,
        identifier,
        name,
        type,
        subscriptionPeriod: kept(product.subscriptionPeriod, old?.subscriptionPeriod ?? null),
        priceMicros: kept(product.priceMicros, old?.priceMicros ?? null),
        currency: kept(product.currency, old?.currency ?? null)
      }
      return { old, next }
    })
  )
}

const entitlementWrites = (state: CatalogState, wanted: WantedCatalog) => {
  const existing = byIdentifier(state.entitlements)
  const named = byIdentifier(wanted.entitlements)
  const joining = new Map<string, Set<string>>()
  const join = (entitlement: string, product: string) => {
    joining.set(entitlement, (joining.get(entitlement) ?? new Set()).add(product))
  }
  for (const { identifier, productIdentifiers } of wanted.entitlements) {
    joining.set(identifier, new Set(productIdentifiers))
  }
  for (const { entitlements, identifier } of wanted.products) {
    for (const entitlement of entitlements) join(entitlement, identifier)
  }
  return compared<PlannedEntitlement>(
    [...joining].map(([identifier, products]) => {
      const old = existing.get(identifier)
      const productIdentifiers = [...new Set([...(old?.productIdentifiers ?? []), ...products])].sort()
      const name = named.get(identifier)?.name ?? old?.name ?? identifier
      return { old, next: { identifier, name, productIdentifiers }, isNamed: named.has(identifier) }
    })
  )
}

const offeringWrites = (state: CatalogState, wanted: WantedCatalog) => {
  const named = byIdentifier(wanted.offerings)
  const existing = byIdentifier(
    state.offerings.map(({ identifier, isCurrent }): PlannedOffering => ({ identifier, isCurrent }))
  )
  const isMoving = wanted.offerings.some(({ isCurrent }) => isCurrent === true)
  const losing = isMoving
    ? [...existing.values()].filter(({ identifier, isCurrent }) => isCurrent && !named.has(identifier))
    : []
  return compared<PlannedOffering>([
    ...losing.map((old) => ({ old, next: { ...old, isCurrent: false }, isNamed: false })),
    ...wanted.offerings.map(({ identifier, isCurrent }) => {
      const old = existing.get(identifier)
      return { old, next: { identifier, isCurrent: kept(isCurrent, !isMoving && (old?.isCurrent ?? false)) } }
    })
  ])
}

const packageWrites = (state: CatalogState, wanted: WantedCatalog) => {
  const offerings = byIdentifier(state.offerings)
  return compared<PlannedPackage & { readonly offering: string }>(
    wanted.offerings.flatMap(({ identifier: offering, packages }) => {
      const existing = byIdentifier(offerings.get(offering)?.packages ?? [])
      return packages.map(({ identifier, packageType, productIdentifier }) => {
        const old = existing.get(identifier)
        return {
          old:
            old === undefined
              ? undefined
              : { offering, identifier, packageType: old.packageType, productIdentifier: old.productIdentifier },
          next: { offering, identifier, packageType, productIdentifier }
        }
      })
    })
  )
}
