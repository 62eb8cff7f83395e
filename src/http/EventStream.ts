import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Effect, Schedule, Stream } from "effect"
import { Closing } from "./Closing.ts"
import { CredentialCheck } from "./CredentialCheck.ts"
import { StreamSlots } from "./StreamSlots.ts"

const beatEvery = "15 seconds"
/** Beats that a reader may let pass without taking anything. */
const patience = 2

export interface SentEvent {
  readonly id: string
  readonly event: string
  /** Without line breaks, as JSON is. */
  readonly data: string
}

const frame = ({ data, event, id }: SentEvent) => `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`

/**
 * Server-sent events for as long as the reader takes them, its credential holds and the server is open. What the reader
 * does not take waits in its socket's buffer, of one event beyond the mark at most: nothing more is asked of `events`
 * before. `reader` is whose streams are counted together.
 */
export const eventStream = Effect.fn("eventStream")(function* (reader: string, events: Stream.Stream<SentEvent>) {
  const slots = yield* StreamSlots
  yield* slots.take(reader)
  const request = yield* HttpServerRequest.HttpServerRequest
  const closing = yield* Closing
  const credentials = yield* CredentialCheck
  const response = NodeHttpServerRequest.toServerResponse(request)
  let missed = 0
  let hasTaken = true

  const beat = Effect.gen(function* () {
    missed = response.writableNeedDrain && !hasTaken ? missed + 1 : 0
    hasTaken = false
    if (missed >= patience) response.destroy()
    return yield* credentials.areValid(request.headers["authorization"])
  })
  /** Beside the events, not among them: a reader that takes nothing would stop it. */
  const beating = Effect.repeat(beat, { while: (isValid) => isValid, schedule: Schedule.spaced(beatEvery) })
  const comments = Stream.repeatEffectWithSchedule(Effect.succeed(":\n\n"), Schedule.spaced(beatEvery))
  const body = Stream.merge(Stream.make("retry: 2000\n\n"), Stream.merge(comments, Stream.map(events, frame))).pipe(
    // One event at a time: a batch would be written whole, whatever the socket takes.
    Stream.tap(() => Effect.sync(() => (hasTaken = true))),
    Stream.interruptWhen(Effect.raceFirst(closing.begun, beating)),
    Stream.encodeText
  )
  return HttpServerResponse.stream(body, {
    contentType: "text/event-stream; charset=utf-8",
    headers: { "x-accel-buffering": "no" }
  })
})
