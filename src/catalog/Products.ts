import { Context, DateTime, Effect, Layer, Option } from "effect"
import { nextId } from "../kit/Id.ts"
import { AppHistory } from "./AppHistory.ts"
import { IdentifierBought, IdentifierTaken, ProductUnfit, RecordGone, UnknownIdentifiers } from "./CatalogErrors.ts"
import { CatalogLock } from "./CatalogLock.ts"
import type { AppId } from "./domain/App.ts"
import { type Changes, kept, unknownAmong } from "./domain/Changes.ts"
import { faultsOf, Product, ProductId } from "./domain/Product.ts"
import { EntitlementRepo } from "./EntitlementRepo.ts"
import { type ProductOfApp, ProductRepo } from "./ProductRepo.ts"

export type NewProduct = Omit<typeof Product.Type, "id">

/** What is absent stays. The store of a product does not change. */
export type ProductChanges = Changes<Omit<NewProduct, "store">>

/** Products of an app (subscription management, part 4, "Products, entitlements, offerings, packages"). */
export class Products extends Context.Tag("gatehouse/catalog/Products")<
  Products,
  {
    /** Unlocks the named entitlements, and those that a product of another store with its identifier unlocks. */
    readonly create: (
      appId: AppId,
      product: NewProduct,
      entitlements: ReadonlyArray<string>
    ) => Effect.Effect<Product, IdentifierTaken | UnknownIdentifiers>
    readonly byId: (id: ProductId) => Effect.Effect<Option.Option<ProductOfApp>>
    /** Newest first, older than `before`. */
    readonly page: (
      appId: AppId,
      page: { readonly before: Option.Option<string>; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<Product>>
    readonly update: (
      product: ProductOfApp,
      changes: ProductChanges
    ) => Effect.Effect<Product, RecordGone | ProductUnfit | IdentifierTaken | IdentifierBought>
    /** Takes it out of entitlements, and with the last of its identifier its packages; what was bought stays. */
    readonly remove: (product: ProductOfApp) => Effect.Effect<void, RecordGone>
  }
>() {
  static readonly layer = Layer.effect(
    Products,
    Effect.gen(function* () {
      const products = yield* ProductRepo
      const entitlements = yield* EntitlementRepo
      const history = yield* AppHistory
      const { writing } = yield* CatalogLock

      const insert = Effect.fn("Products.create")(function* (
        appId: AppId,
        fields: NewProduct,
        named: ReadonlyArray<string>
      ) {
        const unlocked = yield* entitlements.named({ appId, identifiers: named })
        const positions = unknownAmong(named, unlocked)
        if (positions.length > 0) return yield* new UnknownIdentifiers({ positions })
        const product = Product.make({ ...fields, id: ProductId.make(yield* nextId) })
        const isNew = yield* products.insert({ ...product, appId }, DateTime.toDateUtc(yield* DateTime.now))
        if (!isNew) return yield* new IdentifierTaken({ identifier: product.identifier })
        yield* entitlements.link(unlocked.map(({ id }) => ({ entitlementId: id, productId: product.id })))
        yield* products.joinSiblings(appId, product.identifier)
        return product
      })

      const rename = Effect.fn("Products.rename")(function* (old: ProductOfApp, next: ProductOfApp, now: Date) {
        const { appId, identifier, store } = next
        if (Option.isSome(yield* products.byKey({ appId, store, identifier }))) {
          return yield* new IdentifierTaken({ identifier })
        }
        if (yield* history.isBought(appId, [old])) return yield* new IdentifierBought({ identifier: old.identifier })
        yield* products.update(next, now)
        yield* products.joinSiblings(appId, identifier)
        yield* products.renameInPackages(appId, old.identifier, identifier, now)
      })

      const change = Effect.fn("Products.update")(function* (id: ProductId, changes: ProductChanges) {
        const found = yield* products.byId(id)
        if (Option.isNone(found)) return yield* new RecordGone()
        const old = found.value
        const next = {
          ...old,
          identifier: kept(changes.identifier, old.identifier),
          name: kept(changes.name, old.name),
          type: kept(changes.type, old.type),
          subscriptionPeriod: kept(changes.subscriptionPeriod, old.subscriptionPeriod),
          priceMicros: kept(changes.priceMicros, old.priceMicros),
          currency: kept(changes.currency, old.currency)
        }
        const faults = faultsOf(next)
        if (faults.length > 0) return yield* new ProductUnfit({ faults })
        const now = DateTime.toDateUtc(yield* DateTime.now)
        yield* next.identifier === old.identifier ? products.update(next, now) : rename(old, next, now)
        return Product.make(next)
      })

      const drop = Effect.fn("Products.remove")(function* ({ appId, id }: ProductOfApp) {
        const found = yield* products.byId(id)
        if (Option.isNone(found)) return yield* new RecordGone()
        yield* products.remove(id)
        yield* products.removePackages(appId, found.value.identifier)
      })

      return Products.of({
        create: (appId, product, named) => writing(appId, insert(appId, product, named)),
        byId: products.byId,
        page: (appId, { before, limit }) => products.page({ appId, before: Option.getOrNull(before), limit }),
        update: ({ appId, id }, changes) => writing(appId, change(id, changes)),
        remove: (product) => writing(product.appId, drop(product))
      })
    })
  )
}
