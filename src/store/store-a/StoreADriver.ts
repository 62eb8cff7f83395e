import { FileSystem } from "@effect/platform"
import { X509Certificate } from "node:crypto"
import { Clock, Data, DateTime, Duration, Effect, Either, Layer, Option, Record, Schema } from "effect"
import { isOfApp, NotificationRefused, type OpenedNotification, StoreANotifications } from "../StoreNotifications.ts"
import { factOf } from "./Facts.ts"
import { NotificationPayload, RenewalPayload, TransactionPayload } from "./Payloads.ts"
import { rootCertificate } from "./RootCertificate.ts"
import { makeVerifier } from "./SignedChain.ts"

/** A file of `STORE_A_ROOT_CERTIFICATES` that is missing or no certificate. */
export class RootCertificateWrong extends Data.TaggedError("RootCertificateWrong")<{ readonly message: string }> {}

const ahead = Duration.toMillis("5 minutes")

const refuse = (reason: NotificationRefused["reason"], detail: string) => new NotificationRefused({ reason, detail })

const environments: { readonly [word: string]: "production" | "sandbox" } = {
  Production: "production",
  Sandbox: "sandbox"
}

/** The roots to trust: the certificates in these PEM files, or the store's own when none are named. */
export const rootsOf = Effect.fn("StoreADriver.rootsOf")(function* (paths: Option.Option<ReadonlyArray<string>>) {
  if (Option.isNone(paths)) return [rootCertificate]
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.forEach(paths.value, (path) =>
    fs.readFile(path).pipe(
      Effect.flatMap((bytes) => Effect.try(() => new X509Certificate(bytes).raw)),
      Effect.mapError(
        () =>
          new RootCertificateWrong({ message: `STORE_A_ROOT_CERTIFICATES must name PEM certificates: ${path} is none` })
      )
    )
  )
})

const decoder = <A>(schema: Schema.Schema<A, string>) => {
  const decode = Schema.decodeEither(schema)
  return (text: string) => Either.mapLeft(decode(text), () => refuse("malformed", "a signed payload has another shape"))
}

const notificationIn = decoder(NotificationPayload)
const transactionIn = decoder(TransactionPayload)
const renewalIn = decoder(RenewalPayload)

/**
 * Store A is the Apple App Store: App Store Server Notifications V2 as signed JWS (developer.apple.com, "App Store Server
 * Notifications V2"). Trust comes from the signature alone: no header or address is believed.
 */
export const layer = (options: { readonly roots: ReadonlyArray<Buffer> }) =>
  Layer.effect(
    StoreANotifications,
    Effect.gen(function* () {
      const verify = yield* makeVerifier(options.roots)

      const environmentOf = (place: { readonly environment?: string | undefined }) =>
        Either.fromOption(Record.get(environments, place.environment ?? ""), () =>
          refuse("environment", "not a server environment")
        )

      const factFrom = Effect.fnUntraced(function* (notification: NotificationPayload) {
        const { data } = notification
        if (data?.signedTransactionInfo === undefined) return Option.none()
        const transaction = yield* transactionIn(yield* verify(data.signedTransactionInfo))
        if (transaction.bundleId !== data.bundleId) return yield* refuse("bundle", "a transaction of another bundle")
        if (transaction.environment !== data.environment) {
          return yield* refuse("environment", "a transaction of another environment")
        }
        if (data.signedRenewalInfo === undefined) return factOf(notification, transaction, Option.none())
        const renewal = yield* renewalIn(yield* verify(data.signedRenewalInfo))
        if (renewal.originalTransactionId !== transaction.originalTransactionId) {
          return yield* refuse("malformed", "a renewal of another purchase")
        }
        if (renewal.environment !== data.environment) {
          return yield* refuse("environment", "a renewal of another environment")
        }
        return factOf(notification, transaction, Option.some(renewal))
      })

      const open = Effect.fnUntraced(function* (signedPayload: string) {
        const notification = yield* notificationIn(yield* verify(signedPayload))
        const place = notification.data ?? notification.summary ?? notification.appData
        if (place !== undefined && place.bundleId === undefined) return yield* refuse("bundle", "no bundle id")
        const environment = place === undefined ? Option.none() : Option.some(yield* environmentOf(place))
        const now = yield* Clock.currentTimeMillis
        if (DateTime.toEpochMillis(notification.signedDate) > now + ahead) {
          return yield* refuse("time", "signed in the future")
        }
        return {
          notificationId: notification.notificationUUID,
          bundleId: Option.fromNullable(place?.bundleId),
          type: notification.notificationType,
          subtype: Option.fromNullable(notification.subtype),
          environment,
          signedAt: notification.signedDate,
          fact: yield* factFrom(notification)
        } satisfies OpenedNotification
      })

      return StoreANotifications.of({
        open,
        read: ({ bundleId, signedPayload }) =>
          Effect.filterOrFail(
            open(signedPayload),
            (opened) => isOfApp(opened, bundleId),
            () => refuse("bundle", "another bundle id")
          )
      })
    })
  )
