import { Layer } from "effect"
import { Customers } from "./Customers.ts"
import { Events } from "./Events.ts"
import { Ledger } from "./Ledger.ts"
import { Notifications } from "./Notifications.ts"
import { Purchases } from "./Purchases.ts"
import { Stats } from "./Stats.ts"
import { SubscriberReader } from "./SubscriberReader.ts"

/** Customers, purchases and their events, with the inbox of the stores. */
export const layer = Layer.mergeAll(Notifications.layer, Ledger.layer, Stats.layer).pipe(
  Layer.provide(Purchases.layer),
  Layer.provideMerge(Customers.layer),
  Layer.provideMerge(Layer.mergeAll(Events.layer, SubscriberReader.layer))
)
