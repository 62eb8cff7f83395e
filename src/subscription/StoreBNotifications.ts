import { Context, DateTime, Duration, Effect, Either, Layer, Metric, Option, Schema } from "effect"
import type { App } from "../catalog/domain/App.ts"
import { nextId } from "../kit/Id.ts"
import { securityEvents, storeNotifications } from "../Metrics.ts"
import { type PushMalformed, StoreB, type StorePush } from "../store/StoreB.ts"
import type { NotificationRefused } from "../store/StoreNotifications.ts"
import { type NoCredential, sentenceOf, type StoreTrouble } from "../store/StoreTrouble.ts"
import { Acknowledgements } from "./Acknowledgements.ts"
import { pauseAfter } from "./domain/Agenda.ts"
import { NotificationId, type NotificationState, type WaitingNotification } from "./domain/Inbox.ts"
import { InboxRepo } from "./InboxRepo.ts"
import type { Acknowledged } from "./Notifications.ts"
import { type Looked, StoreBReadings } from "./StoreBReadings.ts"

/** Whoever received a push applies it; it is due to others only when that one went meanwhile. */
const underWay = Duration.minutes(1)

/** A push message as it came. */
export interface PushMessage {
  readonly messageId: string
  readonly data: string
}

/**
 * The inbox of store B (contract, part 3, "Store notifications"): verify, keep, read the purchase back, apply,
 * acknowledge. The push is kept before the store is asked, so that one that cannot be applied now (the store is down, the
 * app has no credential yet) waits visibly, and is tried again.
 */
export class StoreBNotifications extends Context.Tag("gatehouse/subscription/StoreBNotifications")<
  StoreBNotifications,
  {
    readonly receive: (
      app: App,
      authorization: Option.Option<string>,
      message: PushMessage
    ) => Effect.Effect<Acknowledged, NotificationRefused | PushMalformed>
    /** One that waits in the inbox; what fails waits on. */
    readonly again: (app: App, waiting: WaitingNotification) => Effect.Effect<void>
  }
>() {
  static readonly layer = Layer.effect(
    StoreBNotifications,
    Effect.gen(function* () {
      const storeB = yield* StoreB
      const inbox = yield* InboxRepo
      const purchases = yield* StoreBReadings
      const acknowledgements = yield* Acknowledgements

      const settled = (id: NotificationId) => (looked: Looked) =>
        looked._tag === "Applied"
          ? inbox.settle(id, "applied", Option.none())
          : inbox.settle(id, "ignored", Option.some(looked.reason))

      const waits = Effect.fn("StoreBNotifications.waits")(function* (
        id: NotificationId,
        failure: NoCredential | StoreTrouble,
        attempts: number
      ) {
        const reason = sentenceOf(failure)
        const asked = failure._tag === "StoreLimited" ? Option.some(failure.retryAfter) : Option.none()
        const dueAt = DateTime.addDuration(yield* DateTime.now, pauseAfter(attempts, asked))
        yield* inbox.postpone({ id, reason, dueAt })
        yield* Effect.annotateLogs(Effect.logWarning("a store notification waits in the inbox"), {
          store: "store_b",
          trouble: failure._tag,
          reason
        })
      })

      const apply = Effect.fn("StoreBNotifications.apply")(function* (
        app: App,
        id: NotificationId,
        push: StorePush,
        attempts: number
      ) {
        if (Option.isNone(push.subject)) return yield* inbox.settle(id, "ignored", Option.some(whyIgnored(push)))
        const subject = push.subject.value
        const look = { ...subject, factId: push.notificationId, since: push.eventAt }
        yield* purchases.look(app, look, settled(id)).pipe(
          Effect.zipRight(acknowledgements.acknowledge(app, subject.purchaseToken)),
          Effect.catchTag("PurchaseUnknown", () =>
            inbox.settle(id, "ignored", Option.some("the store knows no such purchase, or not any more"))
          ),
          Effect.catchAll((failure) => waits(id, failure, attempts))
        )
      })

      const keep = Effect.fn("StoreBNotifications.keep")(function* (app: App, push: StorePush, message: PushMessage) {
        const id = NotificationId.make(yield* nextId)
        const { eventAt, notificationId, subject, type } = push
        const receivedAt = yield* DateTime.now
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
          reason: Option.isSome(subject) ? Option.none() : Option.some(whyIgnored(push)),
          payload: yield* Effect.orDie(encodeMessage(message)),
          signedAt: eventAt,
          receivedAt,
          dueAt: Option.map(subject, () => DateTime.addDuration(receivedAt, underWay))
        })
        if (isNew) return { id, state, isNew } as const
        const known = yield* inbox.known({ appId: app.id, store: "store_b", notificationId })
        return { ...Option.getOrElse(known, () => ({ id, state: "ignored" as const })), isNew } as const
      })

      const receive = Effect.fn("StoreBNotifications.receive")(
        function* (app: App, authorization: Option.Option<string>, message: PushMessage) {
          const push = yield* storeB.push(app, { ...message, authorization })
          const { id, isNew, state } = yield* keep(app, push, message)
          if (state === "pending") yield* apply(app, id, push, 1)
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

      const again = Effect.fn("StoreBNotifications.again")(function* (app: App, waiting: WaitingNotification) {
        const read = yield* decodeMessage(waiting.payload).pipe(
          Effect.orDie,
          Effect.flatMap((message) => storeB.readAgain(app, message)),
          Effect.either
        )
        yield* Either.isRight(read)
          ? apply(app, waiting.id, read.right, waiting.attempts)
          : inbox.settle(waiting.id, "ignored", Option.some("cannot be read"))
      })

      return StoreBNotifications.of({ receive, again })
    })
  ).pipe(Layer.provide(InboxRepo.Default))
}

const StoredMessage = Schema.parseJson(Schema.Struct({ messageId: Schema.String, data: Schema.String }))
const encodeMessage = Schema.encode(StoredMessage)
const decodeMessage = Schema.decode(StoredMessage)

const whyIgnored = ({ isForeign }: StorePush): string => (isForeign ? "is of another package" : "changes no purchase")

const counted = (result: Acknowledged["status"] | "refused") =>
  Metric.increment(Metric.tagged(Metric.tagged(storeNotifications, "store", "store_b"), "result", result))
