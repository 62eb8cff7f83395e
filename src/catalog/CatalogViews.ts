import { Option } from "effect"
import type { Entitlement } from "./domain/Entitlement.ts"
import { fromMicros, toMicros } from "./domain/Money.ts"
import type { Offering, Package, PresentedOffering } from "./domain/Offering.ts"
import type { Product } from "./domain/Product.ts"

/** Records of the catalogue as the wire shows them. */

export const productItem = (product: Product) => ({
  uuid: product.id,
  store: product.store,
  identifier: product.identifier,
  name: product.name,
  type: product.type,
  subscription_period: product.subscriptionPeriod,
  price: product.priceMicros === null ? null : fromMicros(product.priceMicros),
  currency: product.currency
})

export const entitlementItem = (entitlement: Entitlement) => ({
  uuid: entitlement.id,
  identifier: entitlement.identifier,
  name: entitlement.name,
  product_identifiers: entitlement.productIdentifiers
})

export const packageItem = (found: Package) => ({
  uuid: found.id,
  identifier: found.identifier,
  package_type: found.packageType,
  product_identifier: found.productIdentifier
})

export const offeringItem = (offering: Offering) => ({
  uuid: offering.id,
  identifier: offering.identifier,
  is_current: offering.isCurrent,
  packages: offering.packages.map(packageItem)
})

export const presentedItem = (offering: PresentedOffering) => ({
  uuid: offering.id,
  identifier: offering.identifier,
  is_current: offering.isCurrent,
  packages: offering.packages.map((found) => ({ ...packageItem(found), products: found.products.map(productItem) }))
})

/** A price that the form has let pass, as micros; absent and `null` stay what they are. */
export const microsOf = <Absent extends null | undefined>(price: number | Absent): number | null | Absent =>
  typeof price === "number" ? Option.getOrNull(toMicros(price)) : price
