import { Record, Schema } from "effect"
import { fromMicros } from "../../catalog/domain/Money.ts"
import { isActiveAt } from "./Access.ts"
import { AppUserId, type Customer, CustomerId } from "./Customer.ts"
import { entitlementsOf, givesAccessAt, Holdings } from "./Entitlements.ts"

/** A customer of the management's list with all that it holds. `spentMicros` is by currency. */
export class ListedCustomer extends Schema.Class<ListedCustomer>("ListedCustomer")({
  id: CustomerId,
  appUserId: AppUserId,
  isAnonymous: Schema.Boolean,
  firstSeen: Schema.DateTimeUtcFromDate,
  lastSeen: Schema.DateTimeUtcFromDate,
  ...Holdings.fields,
  spentMicros: Schema.Record({ key: Schema.String, value: Schema.Number })
}) {
  /** One that was created just now and holds nothing yet. */
  static newcomer({ appUserId, firstSeen, id, isAnonymous, lastSeen }: Customer): ListedCustomer {
    const nothing = { subscriptions: [], purchases: [], grants: [], spentMicros: {} }
    return ListedCustomer.make({ id, appUserId, isAnonymous, firstSeen, lastSeen, ...nothing })
  }
  /** Identifiers of the entitlements that give access at `now`, in alphabetical order. */
  activeEntitlements(now: string): ReadonlyArray<string> {
    return [...entitlementsOf(this, now)]
      .filter(([, source]) => givesAccessAt(source, now))
      .map(([identifier]) => identifier)
      .sort()
  }
  activeSubscriptions(now: string): number {
    return this.subscriptions.filter(({ subscription }) => isActiveAt(subscription, now)).length
  }
  /** Production purchases that were paid for and not refunded, in major units by currency. */
  get totalSpent(): Readonly<Record<string, number>> {
    return Record.map(this.spentMicros, fromMicros)
  }
}
