import { Context, DateTime, Effect, Layer, Metric, Option, Schema } from "effect"
import type { App } from "../catalog/domain/App.ts"
import { nextId } from "../kit/Id.ts"
import { securityEvents, storeNotifications } from "../Metrics.ts"
import { type PushMalformed, StoreB, type StorePush } from "../store/StoreB.ts"
import type { NotificationRefused } from "../store/StoreNotifications.ts"
import { NotificationId, type NotificationState } from "./domain/Inbox.ts"
import { InboxRepo } from "./InboxRepo.ts"
import type { Acknowledged } from "./Notifications.ts"
import { type Looked, StoreBReadings } from "./StoreBReadings.ts"

/** A push message as it came. */
export interface PushMessage {
  readonly messageId: string
  readonly data: string
}

/**
 * The inbox of store B (contract, part 3, "Store notifications"): verify, keep, read the purchase back, apply,
 * acknowledge. The push is kept before the store is asked, so that one that cannot be applied now (the store is down, the
 * app has no credential yet) waits visibly, and a repeat of it tries again.
 */
export class StoreBNotifications extends Context.Tag("gatehouse/subscription/StoreBNotifications")<
  StoreBNotifications,
  {
    readonly receive: (
      app: App,
      authorization: Option.Option<string>,
      message: PushMessage
    ) => Effect.Effect<Acknowledged, NotificationRefused | PushMalformed>
  }
>() {
  static readonly layer = Layer.effect(
    StoreBNotifications,
    Effect.gen(function* () {
      const storeB = yield* StoreB
      const inbox = yield* InboxRepo
      const purchases = yield* StoreBReadings

      const settled = (id: NotificationId) => (looked: Looked) =>
        looked._tag === "Applied"
          ? inbox.settle(id, "applied", Option.none())
          : inbox.settle(id, "ignored", Option.some(looked.reason))

      const apply = Effect.fn("StoreBNotifications.apply")(function* (app: App, id: NotificationId, push: StorePush) {
        if (Option.isNone(push.subject)) return
        const subject = push.subject.value
        const look = { ...subject, factId: push.notificationId, since: push.eventAt }
        yield* purchases.look(app, look, settled(id)).pipe(
          Effect.zipRight(purchases.acknowledge(app, subject)),
          Effect.catchTag("StoreFailure", ({ detail, reason }) =>
            reason === "not_found"
              ? inbox.settle(id, "ignored", Option.some("the store knows no such purchase, or not any more"))
              : Effect.zipRight(
                  inbox.settle(id, "pending", Option.some(`${reason}: ${detail}`)),
                  Effect.annotateLogs(Effect.logWarning("a store notification waits in the inbox"), {
                    store: "store_b",
                    reason,
                    detail
                  })
                )
          )
        )
      })

      const keep = Effect.fn("StoreBNotifications.keep")(function* (app: App, push: StorePush, message: PushMessage) {
        const id = NotificationId.make(yield* nextId)
        const { eventAt, isForeign, notificationId, subject, type } = push
        const state: NotificationState = Option.isSome(subject) ? "pending" : "ignored"
        const isNew = yield* inbox.insert({
          id,
          appId: app.id,
          store: "store_b",
          notificationId,
          type,
          subtype: Option.none(),
          environment: Option.none(),
          state,
          reason: Option.isSome(subject)
            ? Option.none()
            : Option.some(isForeign ? "is of another package" : "changes no purchase"),
          payload: yield* Effect.orDie(encodeMessage(message)),
          signedAt: eventAt,
          receivedAt: yield* DateTime.now
        })
        if (isNew) return { id, state, isNew } as const
        const known = yield* inbox.known({ appId: app.id, store: "store_b", notificationId })
        return { ...Option.getOrElse(known, () => ({ id, state: "ignored" as const })), isNew } as const
      })

      const receive = Effect.fn("StoreBNotifications.receive")(
        function* (app: App, authorization: Option.Option<string>, message: PushMessage) {
          const push = yield* storeB.push(app, { ...message, authorization })
          const { id, isNew, state } = yield* keep(app, push, message)
          if (state === "pending") yield* apply(app, id, push)
          const status = !isNew ? "duplicate" : Option.isSome(push.subject) ? "accepted" : "ignored"
          yield* counted(status)
          return { status, id } satisfies Acknowledged
        },
        Effect.tapErrorTag("NotificationRefused", ({ detail, reason }) =>
          Effect.logWarning("refused a store notification").pipe(
            Effect.annotateLogs({ store: "store_b", reason, detail }),
            Effect.zipRight(Metric.increment(Metric.tagged(securityEvents, "kind", "forged_notification"))),
            Effect.zipRight(counted("refused"))
          )
        )
      )

      return StoreBNotifications.of({ receive })
    })
  ).pipe(Layer.provide(InboxRepo.Default))
}

const encodeMessage = Schema.encode(Schema.parseJson(Schema.Struct({ messageId: Schema.String, data: Schema.String })))

const counted = (result: Acknowledged["status"] | "refused") =>
  Metric.increment(Metric.tagged(Metric.tagged(storeNotifications, "store", "store_b"), "result", result))
