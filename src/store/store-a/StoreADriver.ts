import { FileSystem } from "@effect/platform"
import { X509Certificate } from "node:crypto"
import { Clock, Data, DateTime, Duration, Effect, Layer, Option, Record, Schema } from "effect"
import { NotificationRefused, StoreANotifications, type StoreNotification } from "../StoreNotifications.ts"
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

const decode = <A>(schema: Schema.Schema<A, string>, text: string) =>
  Schema.decode(schema)(text).pipe(Effect.mapError(() => refuse("malformed", "a signed payload has another shape")))

/**
 * Store A is the Apple App Store: App Store Server Notifications V2 as signed JWS (developer.apple.com, "App Store Server
 * Notifications V2"). Trust comes from the signature alone: no header or address is believed.
 */
export const layer = (options: { readonly roots: ReadonlyArray<Buffer> }) =>
  Layer.effect(
    StoreANotifications,
    Effect.gen(function* () {
      const verify = yield* makeVerifier(options.roots)

      const belongs = (notification: NotificationPayload, bundleId: Option.Option<string>) =>
        Effect.gen(function* () {
          const place = notification.data ?? notification.summary ?? notification.appData
          if (place === undefined) return yield* Effect.succeedNone
          if (!Option.contains(bundleId, place.bundleId ?? "")) return yield* refuse("bundle", "another bundle id")
          const environment = Record.get(environments, place.environment ?? "")
          if (Option.isNone(environment)) return yield* refuse("environment", "not a server environment")
          return environment
        })

      const factFrom = Effect.fnUntraced(function* (
        notification: NotificationPayload,
        bundleId: Option.Option<string>
      ) {
        const { data } = notification
        if (data?.signedTransactionInfo === undefined) return Option.none()
        const transaction = yield* decode(TransactionPayload, yield* verify(data.signedTransactionInfo))
        if (!Option.contains(bundleId, transaction.bundleId))
          return yield* refuse("bundle", "a transaction of another bundle")
        if (transaction.environment !== data.environment) {
          return yield* refuse("environment", "a transaction of another environment")
        }
        if (data.signedRenewalInfo === undefined) return factOf(notification, transaction, Option.none())
        const renewal = yield* decode(RenewalPayload, yield* verify(data.signedRenewalInfo))
        if (renewal.originalTransactionId !== transaction.originalTransactionId) {
          return yield* refuse("malformed", "a renewal of another purchase")
        }
        if (renewal.environment !== data.environment) {
          return yield* refuse("environment", "a renewal of another environment")
        }
        return factOf(notification, transaction, Option.some(renewal))
      })

      const read = Effect.fnUntraced(function* (input: {
        readonly signedPayload: string
        readonly bundleId: Option.Option<string>
      }) {
        const notification = yield* decode(NotificationPayload, yield* verify(input.signedPayload))
        const environment = yield* belongs(notification, input.bundleId)
        const now = yield* Clock.currentTimeMillis
        if (DateTime.toEpochMillis(notification.signedDate) > now + ahead) {
          return yield* refuse("time", "signed in the future")
        }
        return {
          notificationId: notification.notificationUUID,
          type: notification.notificationType,
          subtype: Option.fromNullable(notification.subtype),
          environment,
          signedAt: notification.signedDate,
          fact: yield* factFrom(notification, input.bundleId)
        } satisfies StoreNotification
      })

      return StoreANotifications.of({ read })
    })
  )
