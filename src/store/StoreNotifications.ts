import { Context, Data, type DateTime, type Effect, type Option } from "effect"
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

/**
 * Port: reads what store A pushes (subscription management, part 4, "Inbound store notifications"; contract, part 3,
 * "Store notifications"). `signedPayload` is the compact JWS as sent; `bundleId` is the app's own, and a payload for any
 * other is refused. When the app has none, every payload is. `StoreDown`: whether it is genuine cannot be told now.
 */
export class StoreANotifications extends Context.Tag("gatehouse/store/StoreANotifications")<
  StoreANotifications,
  {
    readonly read: (input: {
      readonly signedPayload: string
      readonly bundleId: Option.Option<string>
    }) => Effect.Effect<StoreNotification, NotificationRefused | StoreDown>
  }
>() {}
