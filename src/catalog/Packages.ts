import { Context, DateTime, Effect, Layer, Option } from "effect"
import { nextId } from "../kit/Id.ts"
import { IdentifierTaken, RecordGone, UnknownProduct } from "./CatalogErrors.ts"
import { CatalogLock } from "./CatalogLock.ts"
import type { AppId } from "./domain/App.ts"
import { type Changes, kept } from "./domain/Changes.ts"
import { type OfferingId, Package, PackageId } from "./domain/Offering.ts"
import { type OfferingOfApp, OfferingRepo } from "./OfferingRepo.ts"
import { type PackageOfApp, PackageRepo } from "./PackageRepo.ts"
import { ProductRepo } from "./ProductRepo.ts"

export type NewPackage = Omit<typeof Package.Type, "id">

/** What an offering consists of (subscription management, part 4; contract, part 3). */
export class Packages extends Context.Tag("gatehouse/catalog/Packages")<
  Packages,
  {
    readonly create: (
      offering: OfferingOfApp,
      fields: NewPackage
    ) => Effect.Effect<Package, RecordGone | IdentifierTaken | UnknownProduct>
    readonly byId: (id: PackageId) => Effect.Effect<Option.Option<PackageOfApp>>
    /** Newest first, older than `before`. */
    readonly page: (
      offeringId: OfferingId,
      page: { readonly before: Option.Option<string>; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<Package>>
    readonly update: (
      found: PackageOfApp,
      changes: Changes<NewPackage>
    ) => Effect.Effect<Package, RecordGone | IdentifierTaken | UnknownProduct>
    readonly remove: (found: PackageOfApp) => Effect.Effect<void, RecordGone>
  }
>() {
  static readonly layer = Layer.effect(
    Packages,
    Effect.gen(function* () {
      const packages = yield* PackageRepo
      const offerings = yield* OfferingRepo
      const products = yield* ProductRepo
      const { writing } = yield* CatalogLock

      const productExists = Effect.fn("Packages.productExists")(function* (appId: AppId, identifier: string) {
        const found = yield* products.named({ appId, identifiers: [identifier] })
        if (found.length === 0) return yield* new UnknownProduct()
      })

      const insert = Effect.fn("Packages.create")(function* (
        { appId, id: offeringId }: OfferingOfApp,
        fields: NewPackage
      ) {
        if (Option.isNone(yield* offerings.byId(offeringId))) return yield* new RecordGone()
        yield* productExists(appId, fields.productIdentifier)
        const made = Package.make({ ...fields, id: PackageId.make(yield* nextId) })
        const isNew = yield* packages.insert({ ...made, offeringId }, DateTime.toDateUtc(yield* DateTime.now))
        if (!isNew) return yield* new IdentifierTaken({ identifier: fields.identifier })
        return made
      })

      const change = Effect.fn("Packages.update")(function* (id: PackageId, changes: Changes<NewPackage>) {
        const found = yield* packages.byId(id)
        if (Option.isNone(found)) return yield* new RecordGone()
        const old = found.value
        const next = Package.make({
          id,
          identifier: kept(changes.identifier, old.identifier),
          packageType: kept(changes.packageType, old.packageType),
          productIdentifier: kept(changes.productIdentifier, old.productIdentifier)
        })
        yield* productExists(old.appId, next.productIdentifier)
        if (next.identifier !== old.identifier && (yield* packages.isTaken(old.offeringId, next.identifier))) {
          return yield* new IdentifierTaken({ identifier: next.identifier })
        }
        yield* packages.update(next, DateTime.toDateUtc(yield* DateTime.now))
        return next
      })

      const drop = Effect.fn("Packages.remove")(function* (id: PackageId) {
        if (!(yield* packages.remove(id))) return yield* new RecordGone()
      })

      return Packages.of({
        create: (offering, fields) => writing(offering.appId, insert(offering, fields)),
        byId: packages.byId,
        page: (offeringId, { before, limit }) => packages.page({ offeringId, before: Option.getOrNull(before), limit }),
        update: ({ appId, id }, changes) => writing(appId, change(id, changes)),
        remove: ({ appId, id }) => writing(appId, drop(id))
      })
    })
  )
}
