import { DateTime, Duration, Effect, Layer, Option, Schema, Stream } from "effect"
import { StoreAPurchases } from "../StoreAPurchases.ts"
import { PurchaseUnknown, StoreAnswerWrong } from "../StoreTrouble.ts"
import { observedFact } from "./Facts.ts"
import { RenewalPayload, TransactionPayload } from "./Payloads.ts"
import { type Place, StoreAServer } from "./ServerApi.ts"
import { makeVerifier } from "./SignedChain.ts"

const words = { production: "Production", sandbox: "Sandbox" } as const

/** How long the store remembers what it pushed, less a little for clocks that differ. */
const kept = {
  production: Duration.subtract(Duration.days(180), Duration.hours(1)),
  sandbox: Duration.subtract(Duration.days(30), Duration.hours(1))
} as const

const wrong = (detail: string) => new StoreAnswerWrong({ detail })

/**
 * Store A's side of a receipt: the transaction that the client names and, for a subscription, the newest state of its
 * chain, because a renewal has another id than the transaction that the client knows. Every payload is verified up to the
 * pinned root, although it came over TLS from the store's own address.
 */
export const layer = (options: { readonly roots: ReadonlyArray<Buffer> }) =>
  Layer.effect(
    StoreAPurchases,
    Effect.gen(function* () {
      const server = yield* StoreAServer
      const verify = yield* makeVerifier(options.roots)

      const opened = <A>(schema: Schema.Schema<A, string>, jws: string) =>
        verify(jws).pipe(
          Effect.flatMap(Schema.decode(schema)),
          Effect.catchTags({
            ParseError: () => wrong("a payload of another shape"),
            NotificationRefused: ({ detail }) => wrong(detail)
          })
        )

      const transactionIn = Effect.fn("PurchaseReader.transactionIn")(function* (place: Place, jws: string) {
        const transaction = yield* opened(TransactionPayload, jws)
        if (transaction.bundleId !== place.access.bundleId) return yield* new PurchaseUnknown({ reason: "another_app" })
        if (transaction.environment !== words[place.environment]) return yield* wrong("another environment")
        return transaction
      })

      const newest = Effect.fn("PurchaseReader.newest")(function* (place: Place, shown: TransactionPayload) {
        const { data } = yield* server.statuses(place, shown.transactionId)
        const last = data
          .flatMap(({ lastTransactions }) => lastTransactions)
          .find(({ originalTransactionId }) => originalTransactionId === shown.originalTransactionId)
        if (last === undefined) return yield* wrong("the subscription's own chain is missing")
        const transaction = yield* transactionIn(place, last.signedTransactionInfo)
        const renewal = yield* opened(RenewalPayload, last.signedRenewalInfo)
        const ids = [transaction.originalTransactionId, renewal.originalTransactionId]
        if (!ids.every((id) => id === shown.originalTransactionId)) return yield* wrong("a state of another purchase")
        return observedFact(transaction, Option.some({ renewal, status: last.status }))
      })

      return StoreAPurchases.of({
        read: (access, environment, transactionId) =>
          Effect.gen(function* () {
            const place = { access, environment }
            const shown = yield* transactionIn(place, yield* server.transaction(place, transactionId))
            if (shown.transactionId !== transactionId) return yield* wrong("another transaction")
            return shown.type === "Auto-Renewable Subscription"
              ? yield* newest(place, shown)
              : observedFact(shown, Option.none())
          }),
        notifications: (access, environment, { from, to }) =>
          Stream.unwrap(
            Effect.map(DateTime.now, (now) => {
              const earliest = DateTime.subtractDuration(now, kept[environment])
              return server.notifications(
                { access, environment },
                {
                  startDate: DateTime.toEpochMillis(DateTime.max(from, earliest)),
                  endDate: DateTime.toEpochMillis(to)
                }
              )
            })
          ).pipe(Stream.catchTag("PurchaseUnknown", () => Stream.fail(wrong("an answer about a purchase")))),
        verify: (access, environment) =>
          server.requestTest({ access, environment }).pipe(
            Effect.as("The store accepts the credential and sends a test notification."),
            Effect.catchTags({
              NoNotificationUrl: () =>
                Effect.succeed("The store accepts the credential, but knows no address to send notifications to."),
              PurchaseUnknown: () => wrong("an answer about a purchase")
            })
          )
      })
    })
  )
