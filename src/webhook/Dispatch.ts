import { Context, DateTime, Duration, Effect, Layer, Metric, Option, Redacted } from "effect"
import { nextId } from "../kit/Id.ts"
import { Seal } from "../kit/Seal.ts"
import { webhookAttempts, webhookSeconds } from "../Metrics.ts"
import { Attempt } from "./Attempt.ts"
import { DeliveryRepo, type Settlement } from "./DeliveryRepo.ts"
import type { DueDelivery } from "./domain/Delivery.ts"
import { Endpoint } from "./domain/Endpoint.ts"
import { verdict } from "./domain/Settle.ts"
import { sign, signStandard } from "./domain/Signature.ts"
import type { EndpointId } from "./domain/Webhook.ts"
import { EndpointRepo } from "./EndpointRepo.ts"

const userAgent = "Gatehouse-Webhook/1.0"

/** An endpoint with its secret in the clear, for as long as its deliveries are sent. */
export interface OpenEndpoint {
  readonly endpoint: Endpoint
  readonly secret: Redacted.Redacted<string>
}

/** The steps of sending that a delivery loop is made of. */
export class Dispatch extends Context.Tag("gatehouse/webhook/Dispatch")<
  Dispatch,
  {
    /** None when the endpoint is gone. */
    readonly open: (id: EndpointId) => Effect.Effect<Option.Option<OpenEndpoint>>
    readonly due: (id: EndpointId, except: Iterable<string>, limit: number) => Effect.Effect<ReadonlyArray<DueDelivery>>
    readonly nextDue: (id: EndpointId) => Effect.Effect<Option.Option<DateTime.Utc>>
    readonly attempt: (
      target: OpenEndpoint,
      delivery: DueDelivery
    ) => Effect.Effect<{ readonly settlement: Settlement; readonly disable: Option.Option<string> }>
    readonly settle: (settlements: ReadonlyArray<Settlement>) => Effect.Effect<void>
    /** Stops an endpoint for good: nothing more is due for it. */
    readonly disable: (id: EndpointId, reason: string) => Effect.Effect<void>
    readonly cancel: (id: EndpointId) => Effect.Effect<void>
  }
>() {
  static readonly layer = Layer.effect(
    Dispatch,
    Effect.gen(function* () {
      const endpoints = yield* EndpointRepo
      const deliveries = yield* DeliveryRepo
      const attempts = yield* Attempt
      const seal = yield* Seal

      const open = Effect.fn("Dispatch.open")(function* (id: EndpointId) {
        const row = yield* endpoints.byId(id)
        if (Option.isNone(row)) return Option.none()
        const secret = yield* Effect.orDie(seal.open(row.value.secretSealed, id))
        return Option.some({ endpoint: Endpoint.make(row.value), secret })
      })

      const headersOf = ({ secret }: OpenEndpoint, delivery: DueDelivery, attemptId: string, now: DateTime.Utc) => {
        const seconds = Math.floor(now.epochMillis / 1000)
        return {
          "content-type": "application/json",
          "user-agent": userAgent,
          "x-webhook-event": delivery.event,
          "x-webhook-delivery-id": attemptId,
          "x-webhook-timestamp": DateTime.formatIso(now),
          "x-webhook-signature": sign(secret, delivery.body),
          "x-webhook-event-id": delivery.eventId,
          "webhook-id": delivery.eventId,
          "webhook-timestamp": String(seconds),
          "webhook-signature": signStandard(secret, delivery.eventId, seconds, delivery.body)
        }
      }

      const attempt = (target: OpenEndpoint, delivery: DueDelivery) =>
        Effect.gen(function* () {
          const id = yield* nextId
          const startedAt = yield* DateTime.now
          const { endpoint } = target
          const outcome = yield* attempts.send({
            url: endpoint.url,
            body: delivery.body,
            headers: headersOf(target, delivery, id, startedAt),
            timeout: Duration.seconds(endpoint.timeoutSeconds)
          })
          const { code, durationMs, error, responseBody, retryAfter } = outcome
          const { attemptCount, retryCount } = { ...endpoint, ...delivery }
          const { disable, ...judged } = verdict({
            attemptCount,
            retryCount,
            code,
            retryAfter,
            now: yield* DateTime.now
          })
          yield* Metric.increment(Metric.tagged(webhookAttempts, "outcome", judged.state))
          yield* Metric.update(webhookSeconds, durationMs / 1000)
          const record = { id, startedAt, durationMs, code, responseBody, error }
          return { settlement: { deliveryId: delivery.id, ...judged, attempt: record }, disable }
        })

      return Dispatch.of({
        open,
        due: (endpointId, except, limit) =>
          Effect.flatMap(DateTime.now, (now) => deliveries.due({ endpointId, now, except: [...except], limit })),
        nextDue: deliveries.nextDue,
        attempt,
        settle: deliveries.settle,
        disable: (id, reason) => Effect.zipRight(endpoints.disable(id, reason), deliveries.cancel(id)),
        cancel: deliveries.cancel
      })
    })
  )
}
