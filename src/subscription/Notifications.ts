import { SqlClient } from "@effect/sql"
import { Context, DateTime, Effect, Exit, Layer, Metric, Option } from "effect"
import type { App } from "../catalog/domain/App.ts"
import { nextId } from "../kit/Id.ts"
import { securityEvents, storeNotifications } from "../Metrics.ts"
import type { PurchaseFact } from "../store/domain/PurchaseFact.ts"
import { type NotificationRefused, type StoreNotification, StoreANotifications } from "../store/StoreNotifications.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { type InboxEntry, NotificationId, type NotificationState } from "./domain/Inbox.ts"
import { InboxRepo } from "./InboxRepo.ts"
import { Purchases } from "./Purchases.ts"

export interface Acknowledged {
  readonly status: "accepted" | "duplicate" | "ignored"
  readonly id: NotificationId
}

/**
 * The inbox of store notifications (contract, part 3): verify, keep, apply, acknowledge. Keeping and applying share one
 * transaction, so an acknowledged notification is either applied or visibly waiting; a repeat is recognised by the
 * store's own id.
 */
export class Notifications extends Context.Tag("gatehouse/subscription/Notifications")<
  Notifications,
  {
    readonly receiveFromStoreA: (app: App, signedPayload: string) => Effect.Effect<Acknowledged, NotificationRefused>
    readonly page: (
      appId: App["id"],
      page: {
        readonly state: Option.Option<NotificationState>
        readonly before: Option.Option<string>
        readonly limit: number
      }
    ) => Effect.Effect<ReadonlyArray<InboxEntry>>
  }
>() {
  static readonly layer = Layer.effect(
    Notifications,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const storeA = yield* StoreANotifications
      const inbox = yield* InboxRepo
      const purchases = yield* Purchases
      const outbox = yield* Outbox

      const applyOrKeep = Effect.fn("Notifications.applyOrKeep")(function* (
        app: App,
        id: NotificationId,
        fact: PurchaseFact
      ) {
        const outcome = yield* Effect.exit(sql.withTransaction(purchases.apply(app.id, fact)))
        if (Exit.isSuccess(outcome)) return yield* inbox.settle(id, "applied", Option.none())
        yield* Effect.logError("a store notification could not be applied and waits in the inbox", outcome.cause)
      })

      const keep = Effect.fn("Notifications.keep")(
        function* (app: App, store: InboxEntry["store"], notification: StoreNotification, payload: string) {
          const id = NotificationId.make(yield* nextId)
          const { environment, fact, notificationId, signedAt, subtype, type } = notification
          const isNew = yield* inbox.insert({
            id,
            appId: app.id,
            store,
            notificationId,
            type,
            subtype,
            environment,
            state: Option.isSome(fact) ? "pending" : "ignored",
            reason: Option.isSome(fact) ? Option.none() : Option.some("changes no purchase"),
            payload,
            signedAt,
            receivedAt: yield* DateTime.now
          })
          if (!isNew) {
            const known = yield* inbox.known({ appId: app.id, store, notificationId })
            const entry = Option.getOrElse(known, () => ({ id, state: "ignored" as const }))
            if (Option.isSome(fact) && entry.state === "pending") yield* applyOrKeep(app, entry.id, fact.value)
            return { status: "duplicate", id: entry.id } as const
          }
          if (Option.isNone(fact)) return { status: "ignored", id } as const
          yield* applyOrKeep(app, id, fact.value)
          return { status: "accepted", id } as const
        },
        outbox.transaction,
        Effect.orDie
      )

      const receiveFromStoreA = Effect.fn("Notifications.receiveFromStoreA")(
        function* (app: App, signedPayload: string) {
          const notification = yield* storeA.read({ signedPayload, bundleId: app.bundleId })
          const acknowledged = yield* keep(app, "store_a", notification, signedPayload)
          yield* counted("store_a", acknowledged.status)
          return acknowledged
        },
        Effect.tapErrorTag("NotificationRefused", ({ detail, reason }) =>
          Effect.logWarning("refused a store notification").pipe(
            Effect.annotateLogs({ store: "store_a", reason, detail }),
            Effect.zipRight(Metric.increment(Metric.tagged(securityEvents, "kind", "forged_notification"))),
            Effect.zipRight(counted("store_a", "refused"))
          )
        )
      )

      return Notifications.of({
        receiveFromStoreA,
        page: (appId, { before, limit, state }) =>
          inbox.page({ appId, state: Option.getOrNull(state), before: Option.getOrNull(before), limit })
      })
    })
  ).pipe(Layer.provide(InboxRepo.Default))
}

const counted = (store: string, result: Acknowledged["status"] | "refused") =>
  Metric.increment(Metric.tagged(Metric.tagged(storeNotifications, "store", store), "result", result))
