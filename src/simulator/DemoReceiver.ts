import { HttpRouter, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect, Queue, type Redacted, Ref } from "effect"
import { verify } from "../webhook/domain/Signature.ts"
import { listen } from "./SimulatorServer.ts"

export interface Received {
  readonly event: string
  readonly isGenuine: boolean
  readonly body: string
}

/** A subscriber of webhooks as a backend team would write it: checks the signature over the raw body, then believes. */
export const start = Effect.fn("DemoReceiver.start")(function* () {
  const inbox = yield* Queue.sliding<Received>(1000)
  const secret = yield* Ref.make<Redacted.Redacted<string> | undefined>(undefined)
  const receive = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const body = yield* Effect.orDie(request.text)
    const key = yield* Ref.get(secret)
    const isGenuine = key !== undefined && verify(key, body, request.headers["x-webhook-signature"] ?? "")
    yield* Queue.offer(inbox, { event: request.headers["x-webhook-event"] ?? "?", isGenuine, body })
    return HttpServerResponse.empty({ status: 204 })
  })
  const { url } = yield* listen(HttpRouter.post(HttpRouter.empty, "/hook", receive), 0)
  return {
    url: `${url}/hook`,
    trust: (key: Redacted.Redacted<string>) => Ref.set(secret, key),
    next: Queue.take(inbox)
  }
})
