import { SqlClient } from "@effect/sql"
import { Context, DateTime, Effect, Exit, Layer, Metric, Option } from "effect"
import { AppNotFound, Apps } from "../catalog/Apps.ts"
import type { App, AppId } from "../catalog/domain/App.ts"
import { nextId } from "../kit/Id.ts"
import { purchaseDetours, securityEvents, storeNotifications } from "../Metrics.ts"
import type { PurchaseFact } from "../store/domain/PurchaseFact.ts"
import {
  isOfApp,
  NotificationRefused,
  type OpenedNotification,
  StoreANotifications
} from "../store/StoreNotifications.ts"
import { sentenceOf, type StoreDown } from "../store/StoreTrouble.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { CatchUpRepo } from "./CatchUpRepo.ts"
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
    /**
     * As store A pushes it. `StoreDown`: nothing of it is kept; the store repeats it, and is asked for it besides. An
     * archived app is not found.
     */
    readonly receiveFromStoreA: (
      appId: AppId,
      signedPayload: string
    ) => Effect.Effect<Acknowledged, NotificationRefused | StoreDown | AppNotFound>
    /** One of store A's history. `StoreDown`: nothing of it is kept. */
    readonly receivePast: (
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
      const catchUps = yield* CatchUpRepo
      const apps = yield* Apps
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

      const detour = (reason: keyof typeof detours) => Effect.as(Metric.increment(detours[reason]), Option.none())

      /** Keeps and applies in one go what can be: that needs no look at the app. */
      const acceptAtOnce = Effect.fnUntraced(function* (
        appId: AppId,
        { bundleId, fact }: OpenedNotification,
        entry: InboxEntry,
        payload: string
      ) {
        const arrival = Option.all({ fact, bundleId })
        if (Option.isNone(arrival)) return Option.none()
        const whole = { entry, payload, bundleId: arrival.value.bundleId }
        const course = yield* Effect.exit(apart(purchases.accept(appId, arrival.value.fact, whole)))
        if (Exit.isSuccess(course)) {
          return course.value === "applied"
            ? Option.some({ status: "accepted", id: entry.id } as const)
            : yield* detour(course.value)
        }
        yield* Effect.logDebug("a store notification could not be kept and applied at once", course.cause)
        return yield* detour("failed")
      })

      /** What fails at once is kept first, and applied then. */
      const accept = Effect.fnUntraced(function* <E>(
        appId: AppId,
        opened: OpenedNotification,
        payload: string,
        appOf: Effect.Effect<App, E>
      ) {
        const { environment, fact, notificationId, signedAt, subtype, type } = opened
        const told = { store: "store_a", notificationId, type, subtype, environment, signedAt } as const
        const [id, receivedAt] = [NotificationId.make(yield* nextId, checked), yield* DateTime.now]
        const entry = (state: NotificationState, reason: Option.Option<string>) =>
          InboxEntry.make({ ...told, id, receivedAt, state, reason }, checked)
        const accepted = yield* acceptAtOnce(appId, opened, entry("applied", Option.none()), payload)
        if (Option.isSome(accepted)) return accepted.value
        const app = yield* appOf
        if (!isOfApp(opened, app.bundleId)) {
          return yield* new NotificationRefused({ reason: "bundle", detail: "another bundle id" })
        }
        return yield* Option.isNone(fact)
          ? keep(app, entry("ignored", Option.some("changes no purchase")), fact, payload)
          : keep(app, entry("pending", Option.none()), fact, payload)
      })

      const received = <E>(appId: AppId, signedPayload: string, appOf: Effect.Effect<App, E>) =>
        storeA.open(signedPayload).pipe(
          Effect.flatMap((opened) => accept(appId, opened, signedPayload, appOf)),
          Effect.tap(({ status }) => counted(status))
        )

      const listening = Effect.fnUntraced(function* (appId: AppId) {
        const app = yield* apps.byId(appId)
        return Option.isNone(app) || app.value.status === "archived" ? yield* new AppNotFound() : app.value
      })

      const recordRefusal = ({ detail, reason }: NotificationRefused) =>
        Effect.logWarning("refused a store notification").pipe(
          Effect.annotateLogs({ store: "store_a", reason, detail }),
          Effect.zipRight(Metric.increment(Metric.tagged(securityEvents, "kind", "forged_notification"))),
          Effect.zipRight(counted("refused"))
        )

      /** The store does not repeat for ever, and in its sandbox not at all. */
      const askForIt = Effect.fn("Notifications.askForIt")(function* (appId: AppId) {
        const dueAt = DateTime.addDuration(yield* DateTime.now, pauseAfter(1, Option.none()))
        yield* catchUps.missed({ appId, dueAt })
      })

      const receiveFromStoreA = (appId: AppId, signedPayload: string) =>
        Effect.catchTags(received(appId, signedPayload, listening(appId)), {
          NotificationRefused: (refusal) =>
            listening(appId).pipe(Effect.zipRight(recordRefusal(refusal)), Effect.zipRight(refusal)),
          StoreDown: (down) => listening(appId).pipe(Effect.zipRight(askForIt(appId)), Effect.zipRight(down))
        })

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
        receivePast: (app, signedPayload) =>
          Effect.tapErrorTag(
            received(app.id, signedPayload, Effect.succeed(app)),
            "NotificationRefused",
            recordRefusal
          ),
        again: (app, waiting) =>
          Effect.catchTags(again(app, waiting), {
            NotificationRefused: ({ detail }) => waitOn(waiting, `verifies no longer: ${detail}`),
            StoreDown: (down) => waitOn(waiting, sentenceOf(down))
          }),
        page: (appId, { before, limit, state }) =>
          inbox.page({ appId, state: Option.getOrNull(state), before: Option.getOrNull(before), limit })
      })
    })
  ).pipe(Layer.provide([InboxRepo.Default, CatchUpRepo.Default]))
}

const counter = (result: Acknowledged["status"] | "refused") =>
  Metric.tagged(Metric.tagged(storeNotifications, "store", "store_a"), "result", result)

const counters = {
  accepted: counter("accepted"),
  duplicate: counter("duplicate"),
  ignored: counter("ignored"),
  refused: counter("refused")
}

/** The notification was decoded, and with that checked. */
const checked = { disableValidation: true }

const detourBy = (reason: "special" | "changed" | "failed") => Metric.tagged(purchaseDetours, "reason", reason)

const detours = { special: detourBy("special"), changed: detourBy("changed"), failed: detourBy("failed") }

const counted = (result: keyof typeof counters) => Metric.increment(counters[result])
