import { HttpApiBuilder } from "@effect/platform"
import { Effect, Layer, Option, Stream } from "effect"
import { NotFound } from "../api/Problem.ts"
import { CurrentChannel } from "../api/Security.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { Closing } from "../http/Closing.ts"
import { CredentialCheck } from "../http/CredentialCheck.ts"
import { eventStream } from "../http/EventStream.ts"
import { StreamSlots } from "../http/StreamSlots.ts"
import { EventFeed } from "../webhook/EventFeed.ts"

export const EventStreamsHttp = HttpApiBuilder.group(ServiceApi, "eventStreams", (handlers) =>
  Effect.gen(function* () {
    const feed = yield* EventFeed

    const follow = (ownerId: Option.Option<string>, after: string | undefined) =>
      eventStream(
        Option.getOrElse(ownerId, () => "operators"),
        Stream.map(feed.events({ ownerId, after: Option.fromNullable(after) }), ({ body, event, id }) => ({
          id,
          event,
          data: body
        }))
      )
    return handlers
      .handle("streamEvents", ({ headers }) => follow(Option.none(), headers["last-event-id"]))
      .handle("streamAccountEvents", ({ headers, path }) =>
        Effect.gen(function* () {
          const { id } = yield* CurrentChannel
          if (id !== path.id.toLowerCase()) return yield* new NotFound({ message: "No such account." })
          return yield* follow(Option.some(id), headers["last-event-id"])
        })
      )
  })
).pipe(Layer.provide([CredentialCheck.layer, Closing.layer, StreamSlots.layer]))
