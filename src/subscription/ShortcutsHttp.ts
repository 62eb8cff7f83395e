import { HttpServerResponse } from "@effect/platform"
import { Effect, Layer, Option, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"
import { type Shortcut, Shortcuts } from "../http/Shortcut.ts"
import { Notifications } from "./Notifications.ts"
import { receiveFromStoreA } from "./StoreNotificationsHttp.ts"
import { subscriberShortcut } from "./SubscriberShortcutHttp.ts"

const prefix = "/api/v1/stores/store_a/notifications/"

const appIn = Schema.decodeOption(AppId)

const appOf = (url: string) => appIn(url.slice(prefix.length))

const decode = Schema.decodeUnknownOption(Schema.parseJson(Schema.Struct({ signedPayload: Schema.NonEmptyString })))

/** `POST /stores/store_a/notifications/{app}` with a body that has what it needs, to an address that may be an app's. */
const notificationShortcut = Effect.map(Notifications, (notifications): Shortcut => ({
  readsBody: true,
  matches: ({ method, url }) => method === "POST" && url.startsWith(prefix) && Option.isSome(appOf(url)),
  answer: ({ text, url }) =>
    Effect.flatMap(Effect.option(text), (read) =>
      Option.match(Option.all({ appId: appOf(url), body: Option.flatMap(read, decode) }), {
        onNone: () => Effect.succeedNone,
        onSome: ({ appId, body }) =>
          Effect.map(receiveFromStoreA(notifications, appId, body.signedPayload), (answer) =>
            Option.some(HttpServerResponse.unsafeJson(answer))
          )
      })
    )
}))

export const layer = Layer.effect(Shortcuts, Effect.all([subscriberShortcut, notificationShortcut]))
