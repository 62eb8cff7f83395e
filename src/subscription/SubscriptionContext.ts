import { Layer } from "effect"
import * as AppEntity from "./actor/AppEntity.ts"
import * as SettleDays from "./actor/SettleDays.ts"
import * as WakeApps from "./actor/WakeApps.ts"
import { Acknowledgements } from "./Acknowledgements.ts"
import { AppAgenda } from "./AppAgenda.ts"
import { CatchUps } from "./CatchUps.ts"
import { Customers } from "./Customers.ts"
import { Erasure } from "./Erasure.ts"
import { Events } from "./Events.ts"
import { Expiries } from "./Expiries.ts"
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

const inbox = Layer.provideMerge(
  Layer.mergeAll(Notifications.layer, StoreBNotifications.layer),
  Layer.mergeAll(StoreBReadings.layer, Acknowledgements.layer)
)

const actors = Layer.mergeAll(AppEntity.layer, WakeApps.layer({ every: "5 seconds" })).pipe(
  Layer.provide(AppAgenda.layer),
  Layer.provide([CatchUps.layer, Expiries.layer])
)

/** Customers, purchases and their events, with the inbox of the stores and the actors of apps. */
export const layer = Layer.mergeAll(
  actors,
  Receipts.layer,
  Ledger.layer,
  Grants.layer,
  Erasure.layer,
  History.layer,
  SettleDays.layer.pipe(Layer.provideMerge(Stats.layer))
).pipe(
  Layer.provideMerge(Layer.merge(inbox, Identities.layer)),
  Layer.provide(Purchases.layer),
  Layer.provideMerge(Customers.layer),
  Layer.provideMerge(Layer.mergeAll(Events.layer, SubscriberReader.layer))
)
