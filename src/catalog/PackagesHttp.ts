import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { ServiceApi } from "../api/ServiceApi.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import { callerRecord } from "./CallerAppHttp.ts"
import { packageItem } from "./CatalogViews.ts"
import { OfferingId, PackageId } from "./domain/Offering.ts"
import { Offerings } from "./Offerings.ts"
import { Packages } from "./Packages.ts"
import { gone, invalid, taken } from "./RefusalsHttp.ts"

const noSuchProduct = () => invalid({ product_identifier: ["names nothing in this app"] })

export const PackagesHttp = HttpApiBuilder.group(ServiceApi, "packages", (handlers) =>
  Effect.gen(function* () {
    const packages = yield* Packages
    const offerings = yield* Offerings
    const callerOffering = callerRecord("offering", OfferingId, offerings.byId)
    const callerPackage = callerRecord("package", PackageId, packages.byId)

    return handlers
      .handle("listPackages", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const offering = yield* callerOffering(path.offering)
          const page = yield* pageOf(urlParams)
          return pageAnswer(yield* packages.page(offering.id, page), page.limit, ({ id }) => id, packageItem)
        })
      )
      .handle("createPackage", ({ path, payload }) =>
        Effect.gen(function* () {
          const offering = yield* callerOffering(path.offering)
          const { identifier, package_type: packageType, product_identifier: productIdentifier } = payload
          const made = yield* packages.create(offering, { identifier, packageType, productIdentifier })
          return { data: packageItem(made) }
        }).pipe(
          Effect.catchTags({ RecordGone: gone("offering"), IdentifierTaken: taken, UnknownProduct: noSuchProduct })
        )
      )
      .handle("updatePackage", ({ path, payload }) =>
        Effect.gen(function* () {
          const found = yield* callerPackage(path.package)
          const { identifier, package_type: packageType, product_identifier: productIdentifier } = payload
          const changed = yield* packages.update(found, { identifier, packageType, productIdentifier })
          return { data: packageItem(changed) }
        }).pipe(
          Effect.catchTags({ RecordGone: gone("package"), IdentifierTaken: taken, UnknownProduct: noSuchProduct })
        )
      )
      .handle("deletePackage", ({ path }) =>
        Effect.gen(function* () {
          const found = yield* callerPackage(path.package)
          yield* packages.remove(found)
          return { data: { uuid: found.id, deleted: true as const } }
        }).pipe(Effect.catchTag("RecordGone", gone("package")))
      )
  })
)
