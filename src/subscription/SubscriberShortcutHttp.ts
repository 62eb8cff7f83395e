import { type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { DateTime, Effect, Option } from "effect"
import type { Shortcut } from "../http/Shortcut.ts"
import { isFresh } from "./Customers.ts"
import { SubscriberReader } from "./SubscriberReader.ts"

const prefix = "/api/v1/client/subscribers/"
const scheme = "Bearer app_pk_"

const plainId = /^[\w.:$@-]{1,255}$/

const appUserIdOf = (request: HttpServerRequest.HttpServerRequest): string => request.url.slice(prefix.length)

/** `GET /client/subscribers/{appUserId}` for a known subscriber of an active app: one statement authenticates and reads. */
export const subscriberShortcut = Effect.map(SubscriberReader, (reader): Shortcut => ({
  readsBody: false,
  matches: (request) =>
    request.method === "GET" &&
    request.url.startsWith(prefix) &&
    request.headers["authorization"]?.startsWith(scheme) === true &&
    plainId.test(appUserIdOf(request)),
  answer: (request) => {
    const publicApiKey = request.headers["authorization"]?.slice("Bearer ".length) ?? ""
    return Effect.zipWith(reader.read({ publicApiKey }, appUserIdOf(request)), DateTime.now, (found, now) =>
      Option.map(
        Option.filter(found, ({ appStatus, lastSeen }) => appStatus === "active" && isFresh(lastSeen, now)),
        ({ view }) => HttpServerResponse.unsafeJson({ subscriber: view })
      )
    )
  }
}))
