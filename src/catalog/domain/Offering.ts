import { Schema } from "effect"
import { Product } from "./Product.ts"

export const OfferingId = Schema.UUID.pipe(Schema.brand("OfferingId"))
export type OfferingId = typeof OfferingId.Type

export const PackageId = Schema.UUID.pipe(Schema.brand("PackageId"))
export type PackageId = typeof PackageId.Type

export const PackageType = Schema.Literal(
  "monthly",
  "annual",
  "weekly",
  "two_month",
  "three_month",
  "six_month",
  "lifetime",
  "custom"
)
export type PackageType = typeof PackageType.Type

/** Something to buy within an offering: the products, one per store, that carry the identifier. */
export class Package extends Schema.Class<Package>("Package")({
  id: PackageId,
  identifier: Schema.String,
  packageType: PackageType,
  productIdentifier: Schema.String
}) {}

/** A set of packages that an app shows together, oldest package first. One offering of an app is current at most. */
export class Offering extends Schema.Class<Offering>("Offering")({
  id: OfferingId,
  identifier: Schema.String,
  isCurrent: Schema.Boolean,
  packages: Schema.Array(Package)
}) {}

/** An offering as a mobile SDK shows it: each package with its products. */
export const PresentedOffering = Schema.Struct({
  id: OfferingId,
  identifier: Schema.String,
  isCurrent: Schema.Boolean,
  packages: Schema.Array(Schema.Struct({ ...Package.fields, products: Schema.Array(Product) }))
})
export type PresentedOffering = typeof PresentedOffering.Type
