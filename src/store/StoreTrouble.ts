import { Data, type Duration } from "effect"

/** The app has nothing to call that store with. */
export class NoCredential extends Data.TaggedError("NoCredential")<{}> {}

/** The store knows no such purchase, or one of something else: what was sent proves nothing here. */
export class PurchaseUnknown extends Data.TaggedError("PurchaseUnknown")<{
  readonly reason: "unknown" | "another_app" | "another_product"
}> {}

/** The store does not accept the credential. `detail` is the store's own word; it names no secret. */
export class CredentialRejected extends Data.TaggedError("CredentialRejected")<{ readonly detail: string }> {}

/** The store asks for a pause. */
export class StoreLimited extends Data.TaggedError("StoreLimited")<{
  readonly detail: string
  readonly retryAfter: Duration.Duration
}> {}

/** No answer in time, or one that says "later". */
export class StoreDown extends Data.TaggedError("StoreDown")<{ readonly detail: string }> {}

/** An answer that may not be believed or understood: another shape, or a signature that does not verify. */
export class StoreAnswerWrong extends Data.TaggedError("StoreAnswerWrong")<{ readonly detail: string }> {}

/** The store itself is in the way: nothing is known about the purchase. */
export type StoreTrouble = CredentialRejected | StoreLimited | StoreDown | StoreAnswerWrong

/** What stands in the way, for the operator. Names no secret. */
export const sentenceOf = (failure: NoCredential | StoreTrouble): string => {
  switch (failure._tag) {
    case "NoCredential":
      return "the app has no credential for the store"
    case "CredentialRejected":
      return `the store refuses the credential: ${failure.detail}`
    case "StoreLimited":
      return `the store asks for a pause: ${failure.detail}`
    case "StoreDown":
      return `the store does not answer: ${failure.detail}`
    case "StoreAnswerWrong":
      return `the store answers wrongly: ${failure.detail}`
  }
}
