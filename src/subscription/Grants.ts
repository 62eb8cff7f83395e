import { Context, Data, DateTime, Effect, Layer, Option, Schema } from "effect"
import type { AppId } from "../catalog/domain/App.ts"
import { nextId } from "../kit/Id.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { CustomerRepo } from "./CustomerRepo.ts"
import { CustomerNotFound } from "./Customers.ts"
import type { AppUserId, Customer } from "./domain/Customer.ts"
import type { DomainEventType } from "./domain/DomainEvent.ts"
import { Grant, GrantId } from "./domain/Grant.ts"
import { Events } from "./Events.ts"
import { GrantRepo } from "./GrantRepo.ts"

/** What is wrong with a wished grant: an entitlement that the app does not have, an end that is past, or both. */
export class GrantRefused extends Data.TaggedError("GrantRefused")<{
  readonly entitlementIsUnknown: boolean
  readonly endIsPast: boolean
}> {}
export class GrantNotFound extends Data.TaggedError("GrantNotFound")<{}> {}

/** Access that the team gives away, with its events (contract, part 3, "Customers"). */
export class Grants extends Context.Tag("gatehouse/subscription/Grants")<
  Grants,
  {
    /** Without an end the grant lasts until it is revoked. Grants add up: the one that lasts longest counts. */
    readonly give: (
      appId: AppId,
      appUserId: AppUserId,
      terms: { readonly entitlementIdentifier: string; readonly expiresDate: Option.Option<DateTime.Utc> }
    ) => Effect.Effect<Grant, CustomerNotFound | GrantRefused>
    /** Newest first, expired and revoked ones included. */
    readonly page: (
      appId: AppId,
      appUserId: AppUserId,
      page: { readonly before: Option.Option<string>; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<Grant>, CustomerNotFound>
    /** Ends access by the grant at once. A second time changes and tells nothing. */
    readonly revoke: (
      appId: AppId,
      appUserId: AppUserId,
      id: string
    ) => Effect.Effect<GrantId, CustomerNotFound | GrantNotFound>
  }
>() {
  static readonly layer = Layer.effect(
    Grants,
    Effect.gen(function* () {
      const grants = yield* GrantRepo
      const customers = yield* CustomerRepo
      const events = yield* Events
      const outbox = yield* Outbox

      const holder = Effect.fn("Grants.holder")(function* (appId: AppId, appUserId: AppUserId) {
        const found = yield* customers.held({ appId, appUserId })
        const living = Option.filter(found, ({ erasedAt }) => Option.isNone(erasedAt))
        return yield* Option.match(living, { onNone: () => new CustomerNotFound(), onSome: Effect.succeed })
      })

      const tell = (appId: AppId, type: DomainEventType, customer: Customer, grant: Grant) =>
        events.record(appId, [
          {
            cause: `${type}:${grant.id}`,
            type,
            appUserId: customer.appUserId,
            store: Option.none(),
            environment: Option.none(),
            subscriptionId: Option.none(),
            data: {
              grant_uuid: grant.id,
              entitlement_identifier: grant.entitlementIdentifier,
              expires_date: Option.getOrNull(Option.map(grant.expiresDate, DateTime.formatIso))
            }
          }
        ])

      const give = Effect.fn("Grants.give")(
        function* (
          appId: AppId,
          appUserId: AppUserId,
          { entitlementIdentifier, expiresDate }: Pick<Grant, "entitlementIdentifier" | "expiresDate">
        ) {
          const customer = yield* holder(appId, appUserId)
          const now = yield* DateTime.now
          const entitlement = yield* grants.entitlementNamed({ appId, identifier: entitlementIdentifier })
          const endIsPast = Option.exists(expiresDate, (end) => DateTime.lessThanOrEqualTo(end, now))
          if (Option.isNone(entitlement) || endIsPast) {
            return yield* new GrantRefused({ entitlementIsUnknown: Option.isNone(entitlement), endIsPast })
          }
          const grant = Grant.make({
            id: GrantId.make(yield* nextId),
            entitlementIdentifier,
            grantedAt: now,
            expiresDate,
            revokedAt: Option.none()
          })
          yield* grants.insert({ appId, customerId: customer.id, entitlementId: entitlement.value, grant })
          yield* tell(appId, "entitlement.granted", customer, grant)
          return grant
        },
        outbox.transaction,
        Effect.catchTag("SqlError", Effect.die)
      )

      const page = Effect.fn("Grants.page")(function* (
        appId: AppId,
        appUserId: AppUserId,
        { before, limit }: { readonly before: Option.Option<string>; readonly limit: number }
      ) {
        const customerId = yield* customers.idOf({ appId, appUserId })
        if (Option.isNone(customerId)) return yield* new CustomerNotFound()
        return yield* grants.page({ customerId: customerId.value, before: Option.getOrNull(before), limit })
      })

      const revoke = Effect.fn("Grants.revoke")(
        function* (appId: AppId, appUserId: AppUserId, text: string) {
          const customer = yield* holder(appId, appUserId)
          const id = yield* Effect.mapError(Schema.decodeUnknown(GrantId)(text), () => new GrantNotFound())
          const found = yield* grants.ofCustomer({ customerId: customer.id, id })
          if (Option.isNone(found)) return yield* new GrantNotFound()
          if (Option.isSome(found.value.revokedAt)) return id
          yield* grants.revoke(id, yield* DateTime.now)
          yield* tell(appId, "entitlement.revoked", customer, found.value)
          return id
        },
        outbox.transaction,
        Effect.catchTag("SqlError", Effect.die)
      )

      return Grants.of({ give, page, revoke })
    })
  ).pipe(Layer.provide([GrantRepo.Default, CustomerRepo.Default]))
}
