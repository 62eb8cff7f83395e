import { Context, DateTime, Effect, Layer, Option } from "effect"
import { nextId } from "../kit/Id.ts"
import { AppHistory } from "./AppHistory.ts"
import { IdentifierBought, IdentifierTaken, RecordGone, UnknownIdentifiers } from "./CatalogErrors.ts"
import { CatalogLock } from "./CatalogLock.ts"
import type { AppId } from "./domain/App.ts"
import { type Changes, kept, unknownAmong } from "./domain/Changes.ts"
import { Entitlement, EntitlementId } from "./domain/Entitlement.ts"
import { type EntitlementOfApp, EntitlementRepo } from "./EntitlementRepo.ts"
import { ProductRepo } from "./ProductRepo.ts"

export type NewEntitlement = Omit<typeof Entitlement.Type, "id">

/** Levels of access and the products that unlock them (subscription management, part 4; contract, part 3). */
export class Entitlements extends Context.Tag("gatehouse/catalog/Entitlements")<
  Entitlements,
  {
    /** Each product identifier stands for the products of all stores that carry it. */
    readonly create: (
      appId: AppId,
      entitlement: NewEntitlement
    ) => Effect.Effect<Entitlement, IdentifierTaken | UnknownIdentifiers>
    readonly byId: (id: EntitlementId) => Effect.Effect<Option.Option<EntitlementOfApp>>
    /** Newest first, older than `before`. */
    readonly page: (
      appId: AppId,
      page: { readonly before: Option.Option<string>; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<Entitlement>>
    /** What is absent stays; product identifiers replace those of before. */
    readonly update: (
      entitlement: EntitlementOfApp,
      changes: Changes<NewEntitlement>
    ) => Effect.Effect<Entitlement, RecordGone | IdentifierTaken | IdentifierBought | UnknownIdentifiers>
    readonly remove: (entitlement: EntitlementOfApp) => Effect.Effect<void, RecordGone>
  }
>() {
  static readonly layer = Layer.effect(
    Entitlements,
    Effect.gen(function* () {
      const entitlements = yield* EntitlementRepo
      const products = yield* ProductRepo
      const history = yield* AppHistory
      const { writing } = yield* CatalogLock

      const productsNamed = Effect.fn("Entitlements.productsNamed")(function* (
        appId: AppId,
        identifiers: ReadonlyArray<string>
      ) {
        const found = yield* products.named({ appId, identifiers })
        const positions = unknownAmong(identifiers, found)
        return positions.length > 0 ? yield* new UnknownIdentifiers({ positions }) : found
      })

      const insert = Effect.fn("Entitlements.create")(function* (appId: AppId, fields: NewEntitlement) {
        const { identifier, name, productIdentifiers } = fields
        const unlocking = yield* productsNamed(appId, productIdentifiers)
        const id = EntitlementId.make(yield* nextId)
        const createdAt = DateTime.toDateUtc(yield* DateTime.now)
        const isNew = yield* entitlements.insert({ id, appId, identifier, name, createdAt, updatedAt: createdAt })
        if (!isNew) return yield* new IdentifierTaken({ identifier })
        yield* entitlements.link(unlocking.map((product) => ({ entitlementId: id, productId: product.id })))
        return Entitlement.make({ id, identifier, name, productIdentifiers: inOrder(productIdentifiers) })
      })

      const mayRename = Effect.fn("Entitlements.mayRename")(function* (old: EntitlementOfApp, identifier: string) {
        const { appId } = old
        if ((yield* entitlements.named({ appId, identifiers: [identifier] })).length > 0) {
          return yield* new IdentifierTaken({ identifier })
        }
        const unlocking = yield* products.named({ appId, identifiers: old.productIdentifiers })
        if (yield* history.isBought(appId, unlocking)) {
          return yield* new IdentifierBought({ identifier: old.identifier })
        }
      })

      const change = Effect.fn("Entitlements.update")(function* (id: EntitlementId, changes: Changes<NewEntitlement>) {
        const found = yield* entitlements.byId(id)
        if (Option.isNone(found)) return yield* new RecordGone()
        const old = found.value
        const identifier = kept(changes.identifier, old.identifier)
        const name = kept(changes.name, old.name)
        if (identifier !== old.identifier) yield* mayRename(old, identifier)
        yield* entitlements.update(id, { identifier, name, updatedAt: DateTime.toDateUtc(yield* DateTime.now) })
        if (changes.productIdentifiers !== undefined) {
          const unlocking = yield* productsNamed(old.appId, changes.productIdentifiers)
          yield* entitlements.unlinkAll(id)
          yield* entitlements.link(unlocking.map((product) => ({ entitlementId: id, productId: product.id })))
        }
        const productIdentifiers = inOrder(kept(changes.productIdentifiers, old.productIdentifiers))
        return Entitlement.make({ id, identifier, name, productIdentifiers })
      })

      const drop = Effect.fn("Entitlements.remove")(function* (id: EntitlementId) {
        if (!(yield* entitlements.remove(id))) return yield* new RecordGone()
      })

      return Entitlements.of({
        create: (appId, entitlement) => writing(appId, insert(appId, entitlement)),
        byId: entitlements.byId,
        page: (appId, { before, limit }) => entitlements.page({ appId, before: Option.getOrNull(before), limit }),
        update: ({ appId, id }, changes) => writing(appId, change(id, changes)),
        remove: ({ appId, id }) => writing(appId, drop(id))
      })
    })
  )
}

/** As a list shows them: each once, sorted. */
const inOrder = (identifiers: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(identifiers)].sort()
