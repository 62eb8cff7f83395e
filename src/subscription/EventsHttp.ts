import { HttpApiBuilder } from "@effect/platform"
import { Effect, Option } from "effect"
import { ServiceApi } from "../api/ServiceApi.ts"
import { callerApp } from "../catalog/CallerAppHttp.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import { eventItem } from "./domain/DomainEvent.ts"
import { Events } from "./Events.ts"

export const EventsHttp = HttpApiBuilder.group(ServiceApi, "events", (handlers) =>
  Effect.map(Events, (events) =>
    handlers.handle("listEvents", ({ path, urlParams }) =>
      Effect.gen(function* () {
        const app = yield* callerApp(path.app)
        const page = yield* pageOf(urlParams)
        const rows = yield* events.page({
          appId: app.id,
          type: urlParams.type ?? null,
          appUserId: urlParams.app_user_id ?? null,
          from: urlParams.from ?? null,
          to: urlParams.to ?? null,
          before: Option.getOrNull(page.before),
          limit: page.limit
        })
        return pageAnswer(rows, page.limit, ({ id }) => id, eventItem)
      })
    )
  )
)
