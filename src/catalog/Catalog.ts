import { SqlClient } from "@effect/sql"
import { Context, Data, DateTime, Effect, Layer, Option } from "effect"
import { nextId } from "../kit/Id.ts"
import { CatalogRepo } from "./CatalogRepo.ts"
import type { AppId } from "./domain/App.ts"
import { Entitlement, EntitlementId } from "./domain/Entitlement.ts"
import { Product, ProductId } from "./domain/Product.ts"

export class IdentifierTaken extends Data.TaggedError("IdentifierTaken")<{ readonly identifier: string }> {}
/** Positions of identifiers in the request that name nothing in the app. */
export class UnknownIdentifiers extends Data.TaggedError("UnknownIdentifiers")<{
  readonly positions: ReadonlyArray<number>
}> {}

export interface CatalogPage {
  readonly before: Option.Option<string>
  readonly limit: number
}

/** Products and the entitlements that they unlock (subscription management, part 4; contract, part 3). */
export class Catalog extends Context.Tag("gatehouse/catalog/Catalog")<
  Catalog,
  {
    readonly createProduct: (
      appId: AppId,
      product: Omit<typeof Product.Type, "id">,
      entitlements: ReadonlyArray<string>
    ) => Effect.Effect<Product, IdentifierTaken | UnknownIdentifiers>
    readonly products: (appId: AppId, page: CatalogPage) => Effect.Effect<ReadonlyArray<Product>>
    readonly createEntitlement: (
      appId: AppId,
      entitlement: Omit<typeof Entitlement.Type, "id">
    ) => Effect.Effect<Entitlement, IdentifierTaken | UnknownIdentifiers>
    readonly entitlements: (appId: AppId, page: CatalogPage) => Effect.Effect<ReadonlyArray<Entitlement>>
  }
>() {
  static readonly layer = Layer.effect(
    Catalog,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* CatalogRepo

      const createProduct = Effect.fn("Catalog.createProduct")(
        function* (appId: AppId, fields: Omit<typeof Product.Type, "id">, entitlements: ReadonlyArray<string>) {
          const unlocked = yield* repo.entitlementsNamed({ appId, identifiers: entitlements })
          yield* allKnown(entitlements, unlocked)
          const product = Product.make({ ...fields, id: ProductId.make(yield* nextId) })
          const isNew = yield* repo.insertProduct(appId, product, DateTime.toDateUtc(yield* DateTime.now))
          if (!isNew) return yield* new IdentifierTaken({ identifier: product.identifier })
          yield* repo.link(unlocked.map(({ id }) => ({ entitlementId: id, productId: product.id })))
          return product
        },
        sql.withTransaction,
        Effect.catchTag("SqlError", Effect.die)
      )

      const createEntitlement = Effect.fn("Catalog.createEntitlement")(
        function* (appId: AppId, fields: Omit<typeof Entitlement.Type, "id">) {
          const unlocking = yield* repo.productsNamed({ appId, identifiers: fields.productIdentifiers })
          yield* allKnown(fields.productIdentifiers, unlocking)
          const id = EntitlementId.make(yield* nextId)
          const createdAt = DateTime.toDateUtc(yield* DateTime.now)
          const { identifier, name } = fields
          const isNew = yield* repo.insertEntitlement({ id, appId, identifier, name, createdAt, updatedAt: createdAt })
          if (!isNew) return yield* new IdentifierTaken({ identifier })
          yield* repo.link(unlocking.map((product) => ({ entitlementId: id, productId: product.id })))
          return Entitlement.make({ ...fields, id })
        },
        sql.withTransaction,
        Effect.catchTag("SqlError", Effect.die)
      )

      return Catalog.of({
        createProduct,
        createEntitlement,
        products: (appId, { before, limit }) => repo.products({ appId, before: Option.getOrNull(before), limit }),
        entitlements: (appId, { before, limit }) =>
          repo.entitlements({ appId, before: Option.getOrNull(before), limit })
      })
    })
  ).pipe(Layer.provide(CatalogRepo.Default))
}

const allKnown = (named: ReadonlyArray<string>, found: ReadonlyArray<{ readonly identifier: string }>) => {
  const known = new Set(found.map(({ identifier }) => identifier))
  const positions = named.flatMap((identifier, position) => (known.has(identifier) ? [] : [position]))
  return positions.length === 0 ? Effect.void : Effect.fail(new UnknownIdentifiers({ positions }))
}
