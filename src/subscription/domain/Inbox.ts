import { Schema } from "effect"
import { StoreName } from "../../catalog/domain/Product.ts"
import { Environment } from "../../store/domain/PurchaseFact.ts"

export const NotificationId = Schema.UUID.pipe(Schema.brand("NotificationId"))
export type NotificationId = typeof NotificationId.Type

/** `pending` waits for its application, `ignored` is genuine but can never apply; nothing is dropped. */
export const NotificationState = Schema.Literal("pending", "applied", "ignored")
export type NotificationState = typeof NotificationState.Type

/** A store notification as the inbox keeps it. `notificationId` is the store's own and makes repeats recognisable. */
export class InboxEntry extends Schema.Class<InboxEntry>("InboxEntry")({
  id: NotificationId,
  store: StoreName,
  notificationId: Schema.String,
  type: Schema.String,
  subtype: Schema.OptionFromNullOr(Schema.String),
  environment: Schema.OptionFromNullOr(Environment),
  state: NotificationState,
  reason: Schema.OptionFromNullOr(Schema.String),
  signedAt: Schema.DateTimeUtcFromDate,
  receivedAt: Schema.DateTimeUtcFromDate
}) {}

/** One that waits to be applied. `attempts` counts those before and the one that is made now. */
export class WaitingNotification extends Schema.Class<WaitingNotification>("WaitingNotification")({
  id: NotificationId,
  store: StoreName,
  payload: Schema.String,
  attempts: Schema.Int
}) {}
