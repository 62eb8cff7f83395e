import { SqlClient } from "@effect/sql"
import { layer } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { DateTime, Deferred, Effect, Fiber, Layer, Metric, Option, Schema } from "effect"
import { Apps } from "../../src/catalog/Apps.ts"
import { App, type AppId } from "../../src/catalog/domain/App.ts"
import { TenantId } from "../../src/identity/domain/User.ts"
import { nextId } from "../../src/kit/Id.ts"
import { purchaseDetours } from "../../src/Metrics.ts"
import { PurchaseFact } from "../../src/store/domain/PurchaseFact.ts"
import { StoreANotifications } from "../../src/store/StoreNotifications.ts"
import { StoreDown } from "../../src/store/StoreTrouble.ts"
import { Customers } from "../../src/subscription/Customers.ts"
import { lapse } from "../../src/subscription/domain/Agenda.ts"
import { AppUserId, CustomerId } from "../../src/subscription/domain/Customer.ts"
import { InboxEntry, NotificationId } from "../../src/subscription/domain/Inbox.ts"
import { Subscription, SubscriptionId } from "../../src/subscription/domain/Subscription.ts"
import { Erasure } from "../../src/subscription/Erasure.ts"
import { Identities } from "../../src/subscription/Identities.ts"
import { Notifications } from "../../src/subscription/Notifications.ts"
import { Purchases } from "../../src/subscription/Purchases.ts"
import { type Application, PurchaseWriter } from "../../src/subscription/PurchaseWriter.ts"
import { Outbox } from "../../src/webhook/Outbox.ts"
import { chainFact } from "../support/PurchaseFacts.ts"
import { until } from "../support/Until.ts"
import { makeApp, services } from "./Holder.ts"

const stranger = AppUserId.make("$anonymous:1")
const bundleId = "com.example.notes"

const arrivalOf = (notificationId: string) =>
  Effect.map(nextId, (id) => ({
    bundleId,
    payload: "a.b.c",
    entry: InboxEntry.make({
      ...{ id: NotificationId.make(id), store: "store_a", notificationId, type: "DID_RENEW", state: "applied" },
      ...{ subtype: Option.none(), environment: Option.some("production" as const), reason: Option.none() },
      ...{ signedAt: DateTime.unsafeMake(0), receivedAt: DateTime.unsafeMake(0) }
    })
  }))

/** Everything that was written of an app. */
const rowsOf = Effect.fn(function* (appId: AppId) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`
    SELECT (SELECT count(*) FROM store_notifications WHERE app_id = ${appId}) AS inbox,
      (SELECT count(*) FROM customers WHERE app_id = ${appId}) AS customers,
      (SELECT jsonb_agg(subscriptions ORDER BY id) FROM subscriptions WHERE app_id = ${appId}) AS chains,
      (SELECT count(*) FROM store_facts JOIN subscriptions ON subscriptions.id = subscription_id
        WHERE app_id = ${appId}) AS statements,
      (SELECT jsonb_agg(transactions ORDER BY id) FROM transactions WHERE app_id = ${appId}) AS ledger,
      (SELECT count(*) FROM domain_events WHERE app_id = ${appId}) AS events`
}, Effect.orDie)

const Chain = Schema.Tuple(Schema.Struct({ id: SubscriptionId, customerId: CustomerId, state: Subscription }))

const chainOf = Effect.fn(function* (appId: AppId) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT id, customer_id, state FROM subscriptions WHERE app_id = ${appId}`
  return (yield* Schema.decodeUnknown(Chain)(rows))[0]
}, Effect.orDie)

const first = chainFact("old", 0, stranger)

/** A purchase of somebody's first period, and the writing of its second, as a look has made it possible. */
const looked = Effect.gen(function* () {
  const appId = yield* makeApp
  yield* Effect.flatMap(Purchases, ({ apply }) => apply(appId, first))
  const { customerId, id } = yield* chainOf(appId)
  const renewal: Application = {
    ...{ appId, subscriptionId: id, owner: { id: customerId, appUserId: stranger, isErased: false }, isNew: false },
    ...{ known: [first], fact: chainFact("old", 1, stranger), isHeard: false, newcomer: Option.none() },
    arrival: Option.some(yield* arrivalOf("told-1"))
  }
  return renewal
})

/** What may come between a look and the writing. */
const changes = {
  "the notification was kept": ({ appId }: Application) =>
    Effect.gen(function* () {
      const { accept } = yield* Purchases
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE apps SET bundle_id = ${bundleId} WHERE id = ${appId}`
      strictEqual(yield* accept(appId, chainFact("new", 0, stranger), yield* arrivalOf("told-1")), "applied")
    }),
  "the customer was erased": ({ appId }: Application) => Effect.flatMap(Erasure, ({ erase }) => erase(appId, stranger)),
  "the customer was merged": ({ appId }: Application) =>
    Effect.flatMap(Identities, ({ identify }) => identify(appId, stranger, AppUserId.make("ann"))),
  "the purchase went to somebody else": ({ appId }: Application) =>
    Effect.gen(function* () {
      const { id } = yield* Effect.flatMap(Customers, ({ create }) => create(appId, AppUserId.make("ben")))
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE subscriptions SET customer_id = ${id} WHERE app_id = ${appId}`
    }),
  "the store said something else": ({ appId }: Application) =>
    Effect.flatMap(Purchases, ({ apply }) => apply(appId, chainFact("old", 2, stranger)))
}

const opened = (fact: PurchaseFact, notificationId: string) => ({
  ...{ notificationId, bundleId: Option.some(bundleId), type: "DID_RENEW", subtype: Option.none() },
  ...{ environment: Option.some("production" as const), signedAt: fact.signedAt, fact: Option.some(fact) }
})

const appOf = (id: AppId) =>
  App.make({
    ...{ id, tenantId: TenantId.make("019a9a48-33c8-7b9a-a1d4-0c8e5f2b7d68"), name: "a", slug: "a", platforms: [] },
    ...{ bundleId: Option.some(bundleId), packageName: Option.none(), publicApiKey: "app_pk_a", status: "active" },
    ...{ transferBehavior: "transfer", createdAt: DateTime.unsafeMake(0), updatedAt: DateTime.unsafeMake(0) }
  })

/** The inbox of apps to which the store tells a statement, or nothing that can be judged now. */
const inboxTold = (told: Option.Option<PurchaseFact>) =>
  Notifications.layer.pipe(
    Layer.provide(
      Layer.mock(StoreANotifications, {
        open: (signedPayload) =>
          Option.match(told, {
            onNone: () => new StoreDown({ detail: "a certificate could not be checked" }),
            onSome: (fact) => Effect.succeed(opened(fact, signedPayload))
          })
      })
    ),
    Layer.provide(Layer.mock(Apps, { byId: (id) => Effect.succeedSome(appOf(id)) }))
  )

const detours = (reason: string) =>
  Effect.map(Metric.value(Metric.tagged(purchaseDetours, "reason", reason)), ({ count }) => count)

const lockWaits = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
).pipe(
  Effect.map((rows) => rows.length),
  Effect.orDie
)

layer(services, { excludeTestServices: true })("a purchase that was looked at", (it) => {
  it.effect("is written, whole, when nothing has changed", () =>
    Effect.gen(function* () {
      const renewal = yield* looked
      const { write } = yield* PurchaseWriter
      assertTrue(yield* write(renewal))
      const [rows] = yield* rowsOf(renewal.appId)
      const { chains: _, ledger, ...counts } = rows ?? {}
      deepStrictEqual(counts, { inbox: 1, customers: 1, statements: 2, events: 3 })
      strictEqual(Array.isArray(ledger) ? ledger.length : 0, 2)
    }).pipe(Effect.provide(PurchaseWriter.layer))
  )

  for (const [name, change] of Object.entries(changes)) {
    it.effect(`is not written at all when ${name} meanwhile`, () =>
      Effect.gen(function* () {
        const renewal = yield* looked
        yield* change(renewal)
        const before = yield* rowsOf(renewal.appId)
        const { write } = yield* PurchaseWriter
        strictEqual(yield* write(renewal), false)
        deepStrictEqual(yield* rowsOf(renewal.appId), before)
      }).pipe(Effect.provide(PurchaseWriter.layer))
    )
  }

  it.effect("is not written at all when it is not the first of its chain any more", () =>
    Effect.gen(function* () {
      const renewal = yield* looked
      const before = yield* rowsOf(renewal.appId)
      const { write } = yield* PurchaseWriter
      const subscriptionId = SubscriptionId.make(yield* nextId)
      strictEqual(yield* write({ ...renewal, subscriptionId, isNew: true, known: [] }), false)
      deepStrictEqual(yield* rowsOf(renewal.appId), before)
    }).pipe(Effect.provide(PurchaseWriter.layer))
  )

  it.effect("takes the long way, which is counted, when the same was told elsewhere meanwhile", () => {
    const renewal = chainFact("old", 1, stranger)
    return Effect.gen(function* () {
      const { appId } = yield* looked
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE apps SET bundle_id = ${bundleId} WHERE id = ${appId}`
      const [outbox, purchases] = [yield* Outbox, yield* Purchases]
      const { receiveFromStoreA } = yield* Notifications
      const before = yield* detours("changed")
      const isApplied = yield* Deferred.make<void>()
      const mayCommit = yield* Deferred.make<void>()
      const elsewhere = yield* purchases
        .apply(appId, renewal)
        .pipe(
          Effect.zipLeft(Effect.zipRight(Deferred.succeed(isApplied, undefined), Deferred.await(mayCommit))),
          outbox.transaction,
          Effect.fork
        )
      yield* Deferred.await(isApplied)
      const told = yield* Effect.fork(receiveFromStoreA(appId, "told-1"))
      yield* until(lockWaits, (count) => count > 0)
      yield* Deferred.succeed(mayCommit, undefined)
      yield* Fiber.join(elsewhere)
      strictEqual((yield* Fiber.join(told)).status, "accepted")
      strictEqual(yield* detours("changed"), before + 1)
      const [rows] = yield* rowsOf(appId)
      deepStrictEqual([rows?.inbox, rows?.statements, rows?.events], [1, 2, 3])
    }).pipe(Effect.provide(inboxTold(Option.some(renewal))))
  })

  it.effect("is asked for again where nobody can tell whether its notification is genuine", () =>
    Effect.gen(function* () {
      const appId = yield* makeApp
      const sql = yield* SqlClient.SqlClient
      const caughtUpTo = new Date(0)
      yield* sql`INSERT INTO store_catch_ups ${sql.insert({ appId, environment: "sandbox", caughtUpTo, dueAt: null })}`
      const { receiveFromStoreA } = yield* Notifications
      strictEqual((yield* Effect.flip(receiveFromStoreA(appId, "told-1")))._tag, "StoreDown")
      const due = yield* sql`
        SELECT due_at > now() AS later, caught_up_to FROM store_catch_ups WHERE app_id = ${appId}`
      deepStrictEqual(due, [{ later: true, caughtUpTo }])
      deepStrictEqual((yield* rowsOf(appId))[0]?.inbox, 0)
    }).pipe(Effect.provide(inboxTold(Option.none())))
  )

  it.effect("that the clock ended goes on when the store says so, whenever it said that", () =>
    Effect.gen(function* () {
      for (const when of ["before", "after"]) {
        const { appId } = yield* looked
        const sql = yield* SqlClient.SqlClient
        const { apply } = yield* Purchases
        const { state } = yield* chainOf(appId)
        const end = Option.getOrThrow(state.expiresDate)
        const ended = Option.getOrThrow(lapse(state, first, end))
        yield* apply(appId, ended)
        strictEqual((yield* chainOf(appId)).state.status, "expired")
        const signedAt = DateTime.add(ended.signedAt, { minutes: when === "before" ? -1 : 1 })
        yield* apply(appId, PurchaseFact.make({ ...chainFact("old", 1, stranger), signedAt }))
        const { state: after } = yield* chainOf(appId)
        deepStrictEqual([when, after.status, after.storeTransactionId], [when, "active", "old-1001"])
        const told = yield* sql`
          SELECT type, count(*) FROM domain_events WHERE app_id = ${appId} AND type LIKE 'subscription.%'
          GROUP BY type ORDER BY type`
        deepStrictEqual(told, [
          { type: "subscription.expired", count: 1 },
          { type: "subscription.renewed", count: 1 },
          { type: "subscription.started", count: 1 }
        ])
      }
    })
  )
})
