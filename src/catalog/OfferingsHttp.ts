import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { CurrentApp } from "../api/Security.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import { callerApp, callerRecord } from "./CallerAppHttp.ts"
import { offeringItem, presentedItem } from "./CatalogViews.ts"
import { OfferingId } from "./domain/Offering.ts"
import { Offerings } from "./Offerings.ts"
import { gone, taken } from "./RefusalsHttp.ts"

export const OfferingsHttp = HttpApiBuilder.group(ServiceApi, "offerings", (handlers) =>
  Effect.gen(function* () {
    const offerings = yield* Offerings
    const callerOffering = callerRecord("offering", OfferingId, offerings.byId)

    return handlers
      .handle("listOfferings", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const page = yield* pageOf(urlParams)
          return pageAnswer(yield* offerings.page(app.id, page), page.limit, ({ id }) => id, offeringItem)
        })
      )
      .handle("createOffering", ({ path, payload }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const { identifier, is_current: isCurrent = false } = payload
          return { data: offeringItem(yield* offerings.create(app.id, { identifier, isCurrent })) }
        }).pipe(Effect.catchTag("IdentifierTaken", taken))
      )
      .handle("updateOffering", ({ path, payload }) =>
        Effect.gen(function* () {
          const offering = yield* callerOffering(path.offering)
          const { identifier, is_current: isCurrent } = payload
          return { data: offeringItem(yield* offerings.update(offering, { identifier, isCurrent })) }
        }).pipe(Effect.catchTags({ RecordGone: gone("offering"), IdentifierTaken: taken }))
      )
      .handle("deleteOffering", ({ path }) =>
        Effect.gen(function* () {
          const offering = yield* callerOffering(path.offering)
          yield* offerings.remove(offering)
          return { data: { uuid: offering.id, deleted: true as const } }
        }).pipe(Effect.catchTag("RecordGone", gone("offering")))
      )
  })
)

export const ClientOfferingsHttp = HttpApiBuilder.group(ServiceApi, "clientOfferings", (handlers) =>
  Effect.map(Offerings, (offerings) =>
    handlers.handle("getOfferings", () =>
      Effect.gen(function* () {
        const app = yield* CurrentApp
        const all = yield* offerings.presented(app.id)
        const current = all.find(({ isCurrent }) => isCurrent)
        return { data: { current_offering_id: current?.identifier ?? null, offerings: all.map(presentedItem) } }
      })
    )
  )
)
