import { SqlClient } from "@effect/sql"
import { Context, DateTime, Effect, Exit, Layer, Metric, Option } from "effect"
import type { App } from "../catalog/domain/App.ts"
import { nextId } from "../kit/Id.ts"
import { securityEvents, storeNotifications } from "../Metrics.ts"
import type { PurchaseFact } from "../store/domain/PurchaseFact.ts"
import { type NotificationRefused, type StoreNotification, StoreANotifications } from "../store/StoreNotifications.ts"
import { sentenceOf, type StoreDown } from "../store/StoreTrouble.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { pauseAfter } from "./domain/Agenda.ts"
import { InboxEntry, NotificationId, type NotificationState, type WaitingNotification } from "./domain/Inbox.ts"
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
    /** `StoreDown`: nothing of it is kept, the store must repeat it. */
    readonly receiveFromStoreA: (
      app: App,
      signedPayload: string
    ) => Effect.Effect<Acknowledged, NotificationRefused | StoreDown>
    /** One of store A that waits in the inbox; what fails waits on. */
    readonly again: (app: App, waiting: WaitingNotification) => Effect.Effect<void>
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

      /** In a transaction of its own inside the caller's, so that the row stays when the statement cannot be applied. */
      const applyOrKeep = Effect.fn("Notifications.applyOrKeep")(function* (
        app: App,
        id: NotificationId,
        fact: PurchaseFact,
        attempts: number
      ) {
        const outcome = yield* Effect.exit(sql.withTransaction(purchases.apply(app.id, fact)))
        if (Exit.isSuccess(outcome)) return yield* inbox.settle(id, "applied", Option.none())
        yield* Effect.logError("a store notification could not be applied and waits in the inbox", outcome.cause)
        const dueAt = DateTime.addDuration(yield* DateTime.now, pauseAfter(attempts, Option.none()))
        yield* inbox.postpone({ id, reason: "could not be applied: see the program's log", dueAt })
      })

      const keep = Effect.fn("Notifications.keep")(
        function* (app: App, entry: InboxEntry, fact: Option.Option<PurchaseFact>, payload: string) {
          const { id, notificationId, receivedAt, store } = entry
          if (Option.isSome(fact)) yield* purchases.hold(app.id, fact.value)
          const isNew = yield* inbox.insert({ ...entry, appId: app.id, payload, dueAt: Option.as(fact, receivedAt) })
          if (!isNew) {
            const known = yield* inbox.known({ appId: app.id, store, notificationId })
            const kept = Option.getOrElse(known, () => ({ id, state: "ignored" as const }))
            if (Option.isSome(fact) && kept.state === "pending") yield* applyOrKeep(app, kept.id, fact.value, 1)
            return { status: "duplicate", id: kept.id } as const
          }
          if (Option.isNone(fact)) return { status: "ignored", id } as const
          yield* applyOrKeep(app, id, fact.value, 1)
          return { status: "accepted", id } as const
        },
        outbox.transaction,
        Effect.orDie
      )

      /** A statement that fails ends the transaction around it, if there is one, and not only what it is of. */
      const apart = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.flatMap(
          Effect.serviceOption(SqlClient.TransactionConnection),
          Option.match({ onNone: () => effect, onSome: () => sql.withTransaction(effect) })
        )

      /** Keeps and applies in one go what can be; what fails so is kept first, and applied then. */
      const accept = Effect.fnUntraced(function* (
        app: App,
        { environment, fact, notificationId, signedAt, subtype, type }: StoreNotification,
        payload: string
      ) {
        const id = NotificationId.make(yield* nextId)
        const told = { id, store: "store_a", notificationId, type, subtype, environment, signedAt } as const
        const receivedAt = yield* DateTime.now
        const entry = (state: NotificationState, reason: Option.Option<string>) =>
          InboxEntry.make({ ...told, receivedAt, state, reason })
        if (Option.isNone(fact)) {
          return yield* keep(app, entry("ignored", Option.some("changes no purchase")), fact, payload)
        }
        const arrival = { entry: entry("applied", Option.none()), payload }
        const atOnce = yield* Effect.exit(apart(purchases.accept(app.id, fact.value, arrival)))
        return Exit.isSuccess(atOnce) && atOnce.value
          ? ({ status: "accepted", id } as const)
          : yield* keep(app, entry("pending", Option.none()), fact, payload)
      })

      const receiveFromStoreA = Effect.fnUntraced(
        function* (app: App, signedPayload: string) {
          const notification = yield* storeA.read({ signedPayload, bundleId: app.bundleId })
          const acknowledged = yield* accept(app, notification, signedPayload)
          yield* counted(acknowledged.status)
          return acknowledged
        },
        Effect.tapErrorTag("NotificationRefused", ({ detail, reason }) =>
          Effect.logWarning("refused a store notification").pipe(
            Effect.annotateLogs({ store: "store_a", reason, detail }),
            Effect.zipRight(Metric.increment(Metric.tagged(securityEvents, "kind", "forged_notification"))),
            Effect.zipRight(counted("refused"))
          )
        )
      )

      const again = Effect.fn("Notifications.again")(function* (
        app: App,
        { attempts, id, payload }: WaitingNotification
      ) {
        const { fact } = yield* storeA.read({ signedPayload: payload, bundleId: app.bundleId })
        const settled = Option.match(fact, {
          onNone: () => inbox.settle(id, "ignored", Option.some("changes no purchase")),
          onSome: (told) => applyOrKeep(app, id, told, attempts)
        })
        yield* Effect.catchTag(outbox.transaction(settled), "SqlError", Effect.die)
      })

      const waitOn = Effect.fn("Notifications.waitOn")(function* (
        { attempts, id }: WaitingNotification,
        reason: string
      ) {
        const dueAt = DateTime.addDuration(yield* DateTime.now, pauseAfter(attempts, Option.none()))
        yield* inbox.postpone({ id, reason, dueAt })
      })

      return Notifications.of({
        receiveFromStoreA,
        again: (app, waiting) =>
          Effect.catchTags(again(app, waiting), {
            NotificationRefused: ({ detail }) => waitOn(waiting, `verifies no longer: ${detail}`),
            StoreDown: (down) => waitOn(waiting, sentenceOf(down))
          }),
        page: (appId, { before, limit, state }) =>
          inbox.page({ appId, state: Option.getOrNull(state), before: Option.getOrNull(before), limit })
      })
    })
  ).pipe(Layer.provide(InboxRepo.Default))
}

const counter = (result: Acknowledged["status"] | "refused") =>
  Metric.tagged(Metric.tagged(storeNotifications, "store", "store_a"), "result", result)

const counters = {
  accepted: counter("accepted"),
  duplicate: counter("duplicate"),
  ignored: counter("ignored"),
  refused: counter("refused")
}

const counted = (result: keyof typeof counters) => Metric.increment(counters[result])
