import { Record, Schema } from "effect"
import { fromMicros } from "../../catalog/domain/Money.ts"
import { isActiveAt } from "./Access.ts"
import { AppUserId, type Customer, CustomerId } from "./Customer.ts"
import { entitlementsOf, givesAccessAt } from "./Entitlements.ts"
import { Held, holdingsOf } from "./Held.ts"

/** A customer of the management's list with all that it holds. `spentMicros` is by currency. */
export class ListedCustomer extends Schema.Class<ListedCustomer>("ListedCustomer")({
  id: CustomerId,
  appUserId: AppUserId,
  isAnonymous: Schema.Boolean,
  firstSeen: Schema.DateTimeUtcFromDate,
  lastSeen: Schema.DateTimeUtcFromDate,
  held: Schema.Array(Held),
  spentMicros: Schema.Record({ key: Schema.String, value: Schema.Number })
}) {
  /** One that was created just now and holds nothing yet. */
  static newcomer({ appUserId, firstSeen, id, isAnonymous, lastSeen }: Customer): ListedCustomer {
    return ListedCustomer.make({ id, appUserId, isAnonymous, firstSeen, lastSeen, held: [], spentMicros: {} })
  }
  /** Identifiers of the entitlements that give access at `now`, in alphabetical order. */
  activeEntitlements(now: string): ReadonlyArray<string> {
    return [...entitlementsOf(holdingsOf(this.held), now)]
      .filter(([, source]) => givesAccessAt(source, now))
      .map(([identifier]) => identifier)
      .sort()
  }
  activeSubscriptions(now: string): number {
    return holdingsOf(this.held).subscriptions.filter(({ subscription }) => isActiveAt(subscription, now)).length
  }
  /** Production purchases that were paid for and not refunded, in major units by currency. */
  get totalSpent(): Readonly<Record<string, number>> {
    return Record.map(this.spentMicros, fromMicros)
  }
}
