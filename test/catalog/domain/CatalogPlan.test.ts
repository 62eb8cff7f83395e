import { describe, it } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { FastCheck } from "effect"
import { repeatsIn, unknownNamesIn } from "../../../src/catalog/domain/CatalogFaults.ts"
import {
  type CatalogPlan,
  type CatalogState,
  planOf,
  productKey,
  type WantedCatalog,
  type Writes
} from "../../../src/catalog/domain/CatalogPlan.ts"

/** The tables as a map by key: what an upsert does. */
const upserted = <Row>(rows: ReadonlyArray<Row>, { created, updated }: Writes<Row>, keyOf: (row: Row) => string) => [
  ...new Map([...rows, ...created, ...updated].map((row) => [keyOf(row), row])).values()
]

const identifierOf = ({ identifier }: { readonly identifier: string }) => identifier

const carriedOut = (state: CatalogState, plan: CatalogPlan): CatalogState => {
  const offerings = upserted<{ readonly identifier: string; readonly isCurrent: boolean }>(
    state.offerings,
    plan.offerings,
    identifierOf
  )
  return {
    products: upserted(state.products, plan.products, productKey),
    entitlements: upserted(state.entitlements, plan.entitlements, identifierOf),
    offerings: offerings.map(({ identifier, isCurrent }) => {
      const old = state.offerings.find((offering) => offering.identifier === identifier)?.packages ?? []
      const rows = old.map((found) => ({ ...found, offering: identifier }))
      const isHere = ({ offering }: { readonly offering: string }) => offering === identifier
      const { created, unchanged, updated } = plan.packages
      const writes = { created: created.filter(isHere), updated: updated.filter(isHere), unchanged }
      return { identifier, isCurrent, packages: upserted(rows, writes, identifierOf) }
    })
  }
}

const few = <A>(item: FastCheck.Arbitrary<A>, keyOf: (item: A) => string) =>
  FastCheck.uniqueArray(item, { maxLength: 5, selector: keyOf })

const name = FastCheck.constantFrom("a", "b", "c", "d")
const productNames = FastCheck.constantFrom("p", "q", "r")
const maybe = <A>(value: FastCheck.Arbitrary<A>) => FastCheck.option(value, { nil: undefined })

const wantedProduct = FastCheck.record({
  store: FastCheck.constantFrom("store_a" as const, "store_b" as const),
  identifier: productNames,
  name,
  type: FastCheck.constantFrom("subscription" as const, "consumable" as const),
  subscriptionPeriod: maybe(FastCheck.constantFrom(null, "P1M", "P1Y")),
  priceMicros: maybe(FastCheck.constantFrom(null, 0, 990_000)),
  currency: maybe(FastCheck.constantFrom(null, "USD")),
  entitlements: FastCheck.array(name, { maxLength: 2 })
})

const wantedPackage = FastCheck.record({
  identifier: name,
  packageType: FastCheck.constantFrom("monthly" as const, "custom" as const),
  productIdentifier: productNames
})

const wanted: FastCheck.Arbitrary<WantedCatalog> = FastCheck.record({
  products: few(wantedProduct, productKey),
  entitlements: few(
    FastCheck.record({ identifier: name, name, productIdentifiers: FastCheck.array(productNames, { maxLength: 3 }) }),
    identifierOf
  ),
  offerings: few(
    FastCheck.record({
      identifier: name,
      isCurrent: maybe(FastCheck.boolean()),
      packages: few(wantedPackage, identifierOf)
    }),
    identifierOf
  ).map((offerings) => {
    const first = offerings.findIndex(({ isCurrent }) => isCurrent === true)
    return offerings.map((offering, index) =>
      offering.isCurrent === true && index !== first ? { ...offering, isCurrent: false } : offering
    )
  })
})

const empty: CatalogState = { products: [], entitlements: [], offerings: [] }

const written = (plan: CatalogPlan) =>
  Object.values(plan).reduce((sum, { created, updated }) => sum + created.length + updated.length, 0)

describe("planOf", () => {
  it.prop("carried out once, the same request writes nothing more", [wanted, wanted], ([before, request]) => {
    const state = carriedOut(empty, planOf(empty, before))
    const next = carriedOut(state, planOf(state, request))
    const again = planOf(next, request)
    strictEqual(written(again), 0)
    strictEqual(again.products.unchanged, request.products.length)
    strictEqual(again.entitlements.unchanged, request.entitlements.length)
    strictEqual(again.offerings.unchanged, request.offerings.length)
  })

  it.prop("deletes nothing and holds what was asked for", [wanted, wanted], ([before, request]) => {
    const state = carriedOut(empty, planOf(empty, before))
    const next = carriedOut(state, planOf(state, request))
    for (const { identifier, productIdentifiers } of state.entitlements) {
      const kept = next.entitlements.find((found) => found.identifier === identifier)
      assertTrue(productIdentifiers.every((product) => kept?.productIdentifiers.includes(product)))
    }
    for (const { entitlements, identifier } of request.products) {
      for (const entitlement of entitlements) {
        const found = next.entitlements.find((candidate) => candidate.identifier === entitlement)
        assertTrue(found?.productIdentifiers.includes(identifier) === true)
      }
    }
    assertTrue(next.products.length >= state.products.length && next.offerings.length >= state.offerings.length)
    for (const { identifier, packages } of state.offerings) {
      const kept = next.offerings.find((found) => found.identifier === identifier)
      assertTrue(packages.every((found) => kept?.packages.some((other) => other.identifier === found.identifier)))
    }
  })

  it.prop("leaves one current offering at most, the wanted one", [wanted, wanted], ([before, request]) => {
    const state = carriedOut(empty, planOf(empty, before))
    const current = carriedOut(state, planOf(state, request)).offerings.filter(({ isCurrent }) => isCurrent)
    assertTrue(current.length <= 1)
    const asked = request.offerings.find(({ isCurrent }) => isCurrent === true)
    if (asked !== undefined) strictEqual(current[0]?.identifier, asked.identifier)
  })

  it("keeps what is absent and clears what is null", () => {
    const product = { store: "store_a", identifier: "p", name: "P", type: "subscription", entitlements: [] } as const
    const full = { ...product, subscriptionPeriod: "P1M", priceMicros: 990_000, currency: "USD" }
    const state = carriedOut(empty, planOf(empty, { ...empty, products: [full] }))
    deepStrictEqual(planOf(state, { ...empty, products: [product] }).products.updated, [])
    const cleared = planOf(state, { ...empty, products: [{ ...product, priceMicros: null }] })
    deepStrictEqual(cleared.products.updated, [
      {
        store: "store_a",
        identifier: "p",
        name: "P",
        type: "subscription",
        subscriptionPeriod: "P1M",
        priceMicros: null,
        currency: "USD"
      }
    ])
  })
})

describe("faults of a request", () => {
  it("are every record described twice and every name that nobody knows, by path", () => {
    const request = {
      entitlements: [
        { identifier: "pro", productIdentifiers: ["p", "nothing", 7] },
        { identifier: "pro", productIdentifiers: [] }
      ],
      products: [
        { store: "store_a", identifier: "p", entitlements: ["pro", "gold"] },
        { store: "store_b", identifier: "p", entitlements: ["old"] },
        { store: "store_a", identifier: "p", entitlements: [] },
        { store: 7, identifier: "q", entitlements: [] }
      ],
      offerings: [
        { identifier: "o", isCurrent: true, packages: [{ identifier: "m", productIdentifier: "q" }] },
        {
          identifier: "o2",
          isCurrent: true,
          packages: [
            { identifier: "m", productIdentifier: "elsewhere" },
            { identifier: "m", productIdentifier: "known" }
          ]
        },
        { identifier: "o", packages: [] }
      ]
    }
    deepStrictEqual(
      repeatsIn(request).map(({ path }) => path),
      [
        "entitlements.1.identifier",
        "products.2.identifier",
        "offerings.2.identifier",
        "offerings.1.packages.1.identifier",
        "offerings.1.is_current"
      ]
    )
    const known = { products: [{ identifier: "known" }], entitlements: [{ identifier: "old" }] }
    deepStrictEqual(
      unknownNamesIn(request, known).map(({ path }) => path),
      ["entitlements.0.product_identifiers.1", "products.0.entitlements.1", "offerings.1.packages.0.product_identifier"]
    )
  })
})
