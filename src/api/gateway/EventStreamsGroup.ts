import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Invalid, NotFound, TooMany } from "../Problem.ts"
import { ChannelTokenAuth, OperatorAuth } from "../Security.ts"
import { accountPath } from "./AccountsGroup.ts"

const Events = HttpApiSchema.Text({ contentType: "text/event-stream" }).annotations({
  description: "`text/event-stream`, as `EventSource` reads it"
})

const Resume = Schema.Struct({
  "last-event-id": Schema.optional(Schema.UUID).annotations({
    description: "`id` of the last event that was received: the stream goes on after it, from what is kept"
  })
})

const description =
  "Each event as it happens: `id` is the event's id (`X-Webhook-Event-Id` of its deliveries), `event` its name, `data` the " +
  "body that webhooks get. After a break, `Last-Event-ID` goes on where the reader was, and misses nothing that is still " +
  "kept. A comment comes every 15 s. A reader that takes nothing for 30 s is cut off; so is one whose token no longer holds. " +
  "At most 20 streams of an account, 20 of all operators and 500 in all stand at one time in one process: one more gets 429."

/** Live events of the gateway (contract, part 4, "Webhooks"). */
export class EventStreamsGroup extends HttpApiGroup.make("eventStreams")
  .add(
    HttpApiEndpoint.get("streamEvents", "/events/stream")
      .setHeaders(Resume)
      .addSuccess(Events)
      .addError(Invalid.wire)
      .addError(TooMany.wire)
      .middleware(OperatorAuth)
      .annotate(OpenApi.Summary, "Follow the events of all accounts")
      .annotate(OpenApi.Description, description)
  )
  .add(
    HttpApiEndpoint.get("streamAccountEvents")`/accounts/${accountPath}/events/stream`
      .setHeaders(Resume)
      .addSuccess(Events)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .addError(TooMany.wire)
      .middleware(ChannelTokenAuth)
      .annotate(OpenApi.Summary, "Follow the events of one account")
      .annotate(OpenApi.Description, description)
  ) {}
