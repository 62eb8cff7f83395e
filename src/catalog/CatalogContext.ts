import { Layer } from "effect"
import { Apps } from "./Apps.ts"
import { Bootstrap } from "./Bootstrap.ts"
import { BootstrapRepo } from "./BootstrapRepo.ts"
import { CatalogLock } from "./CatalogLock.ts"
import { EntitlementRepo } from "./EntitlementRepo.ts"
import { Entitlements } from "./Entitlements.ts"
import { OfferingRepo } from "./OfferingRepo.ts"
import { Offerings } from "./Offerings.ts"
import { PackageRepo } from "./PackageRepo.ts"
import { Packages } from "./Packages.ts"
import { ProductRepo } from "./ProductRepo.ts"
import { Products } from "./Products.ts"

const repos = Layer.mergeAll(
  ProductRepo.Default,
  EntitlementRepo.Default,
  OfferingRepo.Default,
  PackageRepo.Default,
  BootstrapRepo.Default
)

/** Apps and what they sell. Needs workspaces, and `AppHistory` from downstream. */
export const layer = Layer.mergeAll(
  Products.layer,
  Entitlements.layer,
  Offerings.layer,
  Packages.layer,
  Bootstrap.layer
).pipe(Layer.provide(Layer.merge(repos, CatalogLock.layer)), Layer.provideMerge(Apps.layer))
