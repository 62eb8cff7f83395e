import { Context, Data, type DateTime, type Effect, Option } from "effect"
import type { Environment, PurchaseFact } from "./domain/PurchaseFact.ts"
import type { StoreDown } from "./StoreTrouble.ts"

/**
 * The payload is not what it claims to be: a broken signature or chain, another bundle, an environment that is never
 * signed for servers. Nothing of it may be believed. `detail` is for the log and names no payload content.
 */
export class NotificationRefused extends Data.TaggedError("NotificationRefused")<{
  readonly reason: "malformed" | "chain" | "signature" | "bundle" | "environment" | "time"
  readonly detail: string
}> {}

/**
 * A genuine notification. `notificationId` is the store's own id, equal over the store's repeats. `fact` is none for
 * what changes no purchase: tests, types that we do not know, summaries.
 */
export interface StoreNotification {
  readonly notificationId: string
  readonly type: string
  readonly subtype: Option.Option<string>
  readonly environment: Option.Option<Environment>
  readonly signedAt: DateTime.Utc
  readonly fact: Option.Option<PurchaseFact>
}

/** One that may be of any app: `bundleId` says of which, and is none where it is about no app. */
export interface OpenedNotification extends StoreNotification {
  readonly bundleId: Option.Option<string>
}

/** What is about no app is let through: it changes nothing. */
export const isOfApp = ({ bundleId }: OpenedNotification, ours: Option.Option<string>): boolean =>
  Option.isNone(bundleId) || Option.contains(ours, bundleId.value)

/**
 * Port: reads what store A pushes (subscription management, part 4, "Inbound store notifications"; contract, part 3,
 * "Store notifications"). `signedPayload` is the compact JWS as sent; `bundleId` is the app's own, and a payload for any
 * other is refused. When the app has none, every payload is. `StoreDown`: whether it is genuine cannot be told now.
 * `open` leaves it to the caller to refuse what is of another app.
 */
export class StoreANotifications extends Context.Tag("gatehouse/store/StoreANotifications")<
  StoreANotifications,
  {
    readonly read: (input: {
      readonly signedPayload: string
      readonly bundleId: Option.Option<string>
    }) => Effect.Effect<StoreNotification, NotificationRefused | StoreDown>
    readonly open: (signedPayload: string) => Effect.Effect<OpenedNotification, NotificationRefused | StoreDown>
  }
>() {}
