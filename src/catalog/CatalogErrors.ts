import { Data } from "effect"
import type { ProductFault } from "./domain/Product.ts"

/** Another record of the same kind has that identifier. */
export class IdentifierTaken extends Data.TaggedError("IdentifierTaken")<{ readonly identifier: string }> {}

/** Something was bought under that identifier: it stays. */
export class IdentifierBought extends Data.TaggedError("IdentifierBought")<{ readonly identifier: string }> {}

/** Positions of identifiers in the request that name nothing in the app. */
export class UnknownIdentifiers extends Data.TaggedError("UnknownIdentifiers")<{
  readonly positions: ReadonlyArray<number>
}> {}

/** Fields that do not go together in the product that a change would make. */
export class ProductUnfit extends Data.TaggedError("ProductUnfit")<{ readonly faults: ReadonlyArray<ProductFault> }> {}

/** The record is no longer there. */
export class RecordGone extends Data.TaggedError("RecordGone")<{}> {}

/** The product identifier of a package names nothing in the app. */
export class UnknownProduct extends Data.TaggedError("UnknownProduct")<{}> {}
