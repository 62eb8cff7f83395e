import { Layer } from "effect"
import * as AcknowledgePurchases from "./actor/AcknowledgePurchases.ts"
import { Customers } from "./Customers.ts"
import { Erasure } from "./Erasure.ts"
import { Events } from "./Events.ts"
import { Grants } from "./Grants.ts"
import { History } from "./History.ts"
import { Identities } from "./Identities.ts"
import { Ledger } from "./Ledger.ts"
import { Notifications } from "./Notifications.ts"
import { Purchases } from "./Purchases.ts"
import { Receipts } from "./Receipts.ts"
import { StoreBNotifications } from "./StoreBNotifications.ts"
import { StoreBReadings } from "./StoreBReadings.ts"
import { Stats } from "./Stats.ts"
import { SubscriberReader } from "./SubscriberReader.ts"

/** Customers, purchases and their events, with the inbox of the stores. */
export const layer = Layer.mergeAll(
  Notifications.layer,
  Receipts.layer.pipe(Layer.provide(Identities.layer)),
  Layer.merge(StoreBNotifications.layer, AcknowledgePurchases.layer).pipe(Layer.provide(StoreBReadings.layer)),
  Ledger.layer,
  Grants.layer,
  Identities.layer,
  Erasure.layer,
  History.layer,
  Stats.layer
).pipe(
  Layer.provide(Purchases.layer),
  Layer.provideMerge(Customers.layer),
  Layer.provideMerge(Layer.mergeAll(Events.layer, SubscriberReader.layer))
)
