import { HttpApiBuilder } from "@effect/platform"
import { DateTime, Effect, Option, Schema } from "effect"
import { Invalid, NotFound, Unauthenticated, Unavailable } from "../api/Problem.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { Apps } from "../catalog/Apps.ts"
import { callerApp } from "../catalog/CallerAppHttp.ts"
import { AppId } from "../catalog/domain/App.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import type { InboxEntry } from "./domain/Inbox.ts"
import { type Acknowledged, Notifications } from "./Notifications.ts"
import { StoreBNotifications } from "./StoreBNotifications.ts"

const entryItem = (entry: InboxEntry) => ({
  uuid: entry.id,
  store: entry.store,
  notification_id: entry.notificationId,
  type: entry.type,
  subtype: Option.getOrNull(entry.subtype),
  environment: Option.getOrNull(entry.environment),
  state: entry.state,
  reason: Option.getOrNull(entry.reason),
  signed_at: DateTime.formatIso(entry.signedAt),
  received_at: DateTime.formatIso(entry.receivedAt)
})

const noApp = new NotFound({ message: "No such app." })

const idNamed = (name: string) => Effect.mapError(Schema.decodeUnknown(AppId)(name), () => noApp)

const acknowledgement = ({ id, status }: Acknowledged) => ({ data: { status, uuid: id } })

const refused = new Unauthenticated({ message: "The notification is not what it claims to be." })

const undecided = new Unavailable({
  message: "Whether the notification is genuine cannot be told now.",
  retryAfter: 300
})

/** What store A pushes, and what it is answered. */
export const receiveFromStoreA = (notifications: Notifications["Type"], appId: AppId, signedPayload: string) =>
  notifications
    .receiveFromStoreA(appId, signedPayload)
    .pipe(
      Effect.map(acknowledgement),
      Effect.catchTags({ NotificationRefused: () => refused, StoreDown: () => undecided, AppNotFound: () => noApp })
    )

export const InboundHttp = HttpApiBuilder.group(ServiceApi, "inbound", (handlers) =>
  Effect.gen(function* () {
    const apps = yield* Apps
    const notifications = yield* Notifications

    const storeB = yield* StoreBNotifications

    const appNamed = Effect.fnUntraced(function* (name: string) {
      const app = yield* Effect.flatMap(idNamed(name), apps.byId)
      return Option.isNone(app) || app.value.status === "archived" ? yield* noApp : app.value
    })

    return handlers
      .handle("storeANotification", ({ path, payload }) =>
        Effect.gen(function* () {
          return yield* receiveFromStoreA(notifications, yield* idNamed(path.app), payload.signedPayload)
        })
      )
      .handle("storeBNotification", ({ headers, path, payload }) =>
        Effect.gen(function* () {
          const app = yield* appNamed(path.app)
          const authorization = Option.fromNullable(headers.authorization)
          return acknowledgement(yield* storeB.receive(app, authorization, payload.message))
        }).pipe(
          Effect.catchTags({
            NotificationRefused: () => refused,
            PushMalformed: ({ field, sentence }) =>
              new Invalid({ message: "The given data was invalid.", errors: { [field]: [sentence] } })
          })
        )
      )
  })
)

export const StoreNotificationsHttp = HttpApiBuilder.group(ServiceApi, "storeNotifications", (handlers) =>
  Effect.map(Notifications, (notifications) =>
    handlers.handle("listStoreNotifications", ({ path, urlParams }) =>
      Effect.gen(function* () {
        const app = yield* callerApp(path.app)
        const page = yield* pageOf(urlParams)
        const state = Option.fromNullable(urlParams.state)
        const rows = yield* notifications.page(app.id, { ...page, state })
        return pageAnswer(rows, page.limit, ({ id }) => id, entryItem)
      })
    )
  )
)
