import { Data, Either, Option, Schema } from "effect"
import type { Purchase, Transaction } from "./Purchase.ts"

/** What the store's Server API answers instead: a number of its own, whose first three digits are the status. */
export class StoreRefused extends Data.TaggedError("StoreRefused")<{
  readonly errorCode: number
  readonly errorMessage: string
}> {}

export const refuse = (errorCode: number, errorMessage: string) => new StoreRefused({ errorCode, errorMessage })

export const transactionUnknown = refuse(4040010, "Transaction id not found.")

type Checked<A> = Either.Either<A, StoreRefused>

/** One period with the chain that it belongs to. */
export interface Sold {
  readonly purchase: Purchase
  readonly transaction: Transaction
}

const pageSize = 20

export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly next: string
  readonly hasMore: boolean
}

/** The page that a token names; tokens are counters in disguise. */
export const pageOf = <A>(all: ReadonlyArray<A>, token: string | null, refusal: StoreRefused): Checked<Page<A>> => {
  const start = token === null ? 0 : Number(/^page-(\d{1,9})$/.exec(token)?.[1] ?? Number.NaN)
  if (Number.isNaN(start) || start > all.length) return Either.left(refusal)
  const end = Math.min(start + pageSize, all.length)
  return Either.right({ items: all.slice(start, end), next: `page-${end}`, hasMore: end < all.length })
}

const types: { readonly [word: string]: string } = {
  AUTO_RENEWABLE: "Auto-Renewable Subscription",
  NON_RENEWABLE: "Non-Renewing Subscription",
  CONSUMABLE: "Consumable",
  NON_CONSUMABLE: "Non-Consumable"
}

const oneOf = (
  query: URLSearchParams,
  name: string,
  words: ReadonlyArray<string>,
  refusal: StoreRefused
): Checked<ReadonlyArray<string>> => {
  const said = query.getAll(name)
  return said.every((word) => words.includes(word)) ? Either.right(said) : Either.left(refusal)
}

const dateOf = (text: string | null, refusal: StoreRefused): Checked<Option.Option<number>> => {
  if (text === null) return Either.right(Option.none())
  return /^\d{1,15}$/.test(text) ? Either.right(Option.some(Number(text))) : Either.left(refusal)
}

const allows = (said: ReadonlyArray<string>, value: string): boolean => said.length === 0 || said.includes(value)

/** What of a customer's transactions a history asks for, in its order. */
export const historyOf = (sold: ReadonlyArray<Sold>, query: URLSearchParams): Checked<ReadonlyArray<Sold>> =>
  Either.gen(function* () {
    const from = yield* dateOf(query.get("startDate"), refuse(4000015, "Invalid start date."))
    const to = yield* dateOf(query.get("endDate"), refuse(4000016, "Invalid end date."))
    if (Option.getOrElse(from, () => 0) > Option.getOrElse(to, () => Infinity)) {
      return yield* Either.left(refuse(4000013, "Start date is after end date."))
    }
    const sort = yield* oneOf(query, "sort", ["ASCENDING", "DESCENDING"], refuse(4000021, "Invalid sort."))
    const kinds = yield* oneOf(query, "productType", Object.keys(types), refuse(4000022, "Invalid product type."))
    const owners = ["PURCHASED", "FAMILY_SHARED"]
    const owner = yield* oneOf(query, "inAppOwnershipType", owners, refuse(4000026, "Invalid ownership type."))
    const revoked = yield* oneOf(query, "revoked", ["true", "false"], refuse(4000030, "Invalid revoked."))
    const products = query.getAll("productId")
    const groups = query.getAll("subscriptionGroupIdentifier")
    const found = sold.filter(
      ({ purchase, transaction }) =>
        transaction.purchaseDate >= Option.getOrElse(from, () => 0) &&
        transaction.purchaseDate < Option.getOrElse(to, () => Infinity) &&
        allows(products, transaction.productId) &&
        allows(groups, purchase.terms.group) &&
        allows(owner, purchase.sharedBy === undefined ? "PURCHASED" : "FAMILY_SHARED") &&
        allows(revoked, String(transaction.revocation !== undefined)) &&
        allows(
          kinds.map((kind) => types[kind] ?? ""),
          purchase.terms.type
        )
    )
    const ascending = found.toSorted((one, other) => one.transaction.purchaseDate - other.transaction.purchaseDate)
    return sort.includes("DESCENDING") ? ascending.toReversed() : ascending
  })

/** The statuses that are asked for; none asks for all. */
export const statusesOf = (query: URLSearchParams): Checked<ReadonlyArray<string>> =>
  oneOf(query, "status", ["1", "2", "3", "4", "5"], refuse(4000031, "Invalid status."))

/** The body of a request for the history of notifications; what is wrong with it is told by the store's own numbers. */
const HistoryRequest = Schema.Struct({
  startDate: Schema.optional(Schema.Unknown),
  endDate: Schema.optional(Schema.Unknown),
  notificationType: Schema.optional(Schema.String),
  notificationSubtype: Schema.optional(Schema.String),
  transactionId: Schema.optional(Schema.String),
  onlyFailures: Schema.optional(Schema.Boolean)
})

const isDate = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value) && value >= 0

/** What a body asks the history of notifications for. */
export const notificationsAsked = (text: string) =>
  Either.gen(function* () {
    const request = yield* Either.mapLeft(Schema.decodeEither(Schema.parseJson(HistoryRequest))(text), () =>
      refuse(4000000, "Bad request.")
    )
    const { endDate, notificationSubtype, notificationType, startDate, transactionId } = request
    if (!isDate(startDate)) return yield* Either.left(refuse(4000015, "Invalid start date."))
    if (!isDate(endDate)) return yield* Either.left(refuse(4000016, "Invalid end date."))
    if (startDate > endDate) return yield* Either.left(refuse(4000013, "Start date is after end date."))
    if (notificationType !== undefined && transactionId !== undefined) {
      return yield* Either.left(refuse(4000019, "Only one filter may be supplied."))
    }
    if (notificationSubtype !== undefined && notificationType === undefined) {
      return yield* Either.left(refuse(4000018, "Invalid notification type."))
    }
    return { ...request, startDate, endDate }
  })
