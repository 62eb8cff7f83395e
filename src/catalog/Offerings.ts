import { Context, DateTime, Effect, Layer, Option } from "effect"
import { nextId } from "../kit/Id.ts"
import { IdentifierTaken, RecordGone } from "./CatalogErrors.ts"
import { CatalogLock } from "./CatalogLock.ts"
import type { AppId } from "./domain/App.ts"
import { type Changes, kept } from "./domain/Changes.ts"
import { Offering, OfferingId, type PresentedOffering } from "./domain/Offering.ts"
import { type OfferingOfApp, OfferingRepo } from "./OfferingRepo.ts"

export interface NewOffering {
  readonly identifier: string
  /** `true` takes the flag from the offering that has it. */
  readonly isCurrent: boolean
}

/** What an app offers to buy, as sets of packages (subscription management, part 4; contract, part 3). */
export class Offerings extends Context.Tag("gatehouse/catalog/Offerings")<
  Offerings,
  {
    readonly create: (appId: AppId, offering: NewOffering) => Effect.Effect<Offering, IdentifierTaken>
    readonly byId: (id: OfferingId) => Effect.Effect<Option.Option<OfferingOfApp>>
    /** Newest first, older than `before`. */
    readonly page: (
      appId: AppId,
      page: { readonly before: Option.Option<string>; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<Offering>>
    /** All of them for a mobile SDK, with products; the current one first. */
    readonly presented: (appId: AppId) => Effect.Effect<ReadonlyArray<PresentedOffering>>
    readonly update: (
      offering: OfferingOfApp,
      changes: Changes<NewOffering>
    ) => Effect.Effect<Offering, RecordGone | IdentifierTaken>
    /** With its packages. */
    readonly remove: (offering: OfferingOfApp) => Effect.Effect<void, RecordGone>
  }
>() {
  static readonly layer = Layer.effect(
    Offerings,
    Effect.gen(function* () {
      const offerings = yield* OfferingRepo
      const { writing } = yield* CatalogLock

      const insert = Effect.fn("Offerings.create")(function* (appId: AppId, fields: NewOffering) {
        const id = OfferingId.make(yield* nextId)
        const createdAt = DateTime.toDateUtc(yield* DateTime.now)
        if (fields.isCurrent) yield* offerings.clearCurrent(appId, createdAt)
        const isNew = yield* offerings.insert({ ...fields, id, appId, createdAt, updatedAt: createdAt })
        if (!isNew) return yield* new IdentifierTaken({ identifier: fields.identifier })
        return Offering.make({ ...fields, id, packages: [] })
      })

      const change = Effect.fn("Offerings.update")(function* (id: OfferingId, changes: Changes<NewOffering>) {
        const found = yield* offerings.byId(id)
        if (Option.isNone(found)) return yield* new RecordGone()
        const { appId, ...old } = found.value
        const identifier = kept(changes.identifier, old.identifier)
        const isCurrent = kept(changes.isCurrent, old.isCurrent)
        if (identifier !== old.identifier && (yield* offerings.isTaken(appId, identifier))) {
          return yield* new IdentifierTaken({ identifier })
        }
        const updatedAt = DateTime.toDateUtc(yield* DateTime.now)
        if (isCurrent && !old.isCurrent) yield* offerings.clearCurrent(appId, updatedAt)
        yield* offerings.update(id, { identifier, isCurrent, updatedAt })
        return Offering.make({ ...old, identifier, isCurrent })
      })

      const drop = Effect.fn("Offerings.remove")(function* (id: OfferingId) {
        if (!(yield* offerings.remove(id))) return yield* new RecordGone()
      })

      return Offerings.of({
        create: (appId, offering) => writing(appId, insert(appId, offering)),
        byId: offerings.byId,
        page: (appId, { before, limit }) => offerings.page({ appId, before: Option.getOrNull(before), limit }),
        presented: offerings.presented,
        update: ({ appId, id }, changes) => writing(appId, change(id, changes)),
        remove: ({ appId, id }) => writing(appId, drop(id))
      })
    })
  )
}
