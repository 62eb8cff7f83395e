import { Array, Context, DateTime, Duration, Effect, Layer, Metric, Option, Queue, type Redacted } from "effect"
import { nextId } from "../kit/Id.ts"
import { Seal } from "../kit/Seal.ts"
import { webhookAttempts, webhookSeconds } from "../Metrics.ts"
import { Attempt } from "./Attempt.ts"
import type { DueDelivery, Settlement } from "./domain/Delivery.ts"
import { Endpoint } from "./domain/Endpoint.ts"
import { healthOf, isLost } from "./domain/Health.ts"
import { verdict } from "./domain/Settle.ts"
import { sign, signStandard } from "./domain/Signature.ts"
import type { DeliveryId, EndpointId } from "./domain/Webhook.ts"
import { EndpointRepo } from "./EndpointRepo.ts"
import { QueueRepo } from "./QueueRepo.ts"

const userAgent = "Gatehouse-Webhook/1.0"

/** Attempts under way at one time, over all endpoints: what sockets and memory are sized for. */
const sentAtOnce = 1024

/** Rows in memory at one time, over all endpoints; the first few of each come on top. */
const heldAtOnce = 32_768

const attemptsBy = {
  succeeded: Metric.tagged(webhookAttempts, "outcome", "succeeded"),
  failed: Metric.tagged(webhookAttempts, "outcome", "failed"),
  exhausted: Metric.tagged(webhookAttempts, "outcome", "exhausted")
}

/** An endpoint with its secret in the clear, for as long as its deliveries are sent. */
export interface OpenEndpoint {
  readonly endpoint: Endpoint
  readonly secret: Redacted.Redacted<string>
  /** The one before, while it signs along. */
  readonly previousSecret: Option.Option<Redacted.Redacted<string>>
}

/**
 * Headers of one attempt (gateway specification, part 6, "Delivery"), the id that all attempts share, and the Standard
 * Webhooks trio (contract, part 4, "Webhooks").
 */
export const headersOf = (
  { previousSecret, secret }: Pick<OpenEndpoint, "secret" | "previousSecret">,
  { body, event, eventId }: Pick<DueDelivery, "body" | "event" | "eventId">,
  attempt: { readonly id: string; readonly startedAt: DateTime.Utc }
) => {
  const timestamp = Math.floor(attempt.startedAt.epochMillis / 1000)
  const message = { id: eventId, timestamp, rawBody: body }
  const previous = Option.match(previousSecret, {
    onNone: () => ({ header: {}, standard: "" }),
    onSome: (key) => ({
      header: { "X-Webhook-Signature-Previous": sign(key, body) },
      standard: ` ${signStandard(key, message)}`
    })
  })
  return {
    "Content-Type": "application/json",
    "User-Agent": userAgent,
    "X-Webhook-Event": event,
    "X-Webhook-Delivery-Id": attempt.id,
    "X-Webhook-Timestamp": DateTime.formatIso(attempt.startedAt),
    "X-Webhook-Signature": sign(secret, body),
    "X-Webhook-Event-Id": eventId,
    "webhook-id": eventId,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signStandard(secret, message) + previous.standard,
    ...previous.header
  }
}

/** The steps that a delivery loop is made of. */
export class Dispatch extends Context.Tag("gatehouse/webhook/Dispatch")<
  Dispatch,
  {
    /** None when the endpoint is gone. */
    readonly open: (id: EndpointId) => Effect.Effect<Option.Option<OpenEndpoint>>
    /** Takes at most `limit` due deliveries beside the held ones: they are `delivering` until settled or released. */
    readonly claim: (
      id: EndpointId,
      limit: number,
      held: ReadonlySet<DeliveryId>
    ) => Effect.Effect<ReadonlyArray<DueDelivery>>
    /** Gives back what was claimed and never sent, by a loop that crashed too. */
    readonly release: (id: EndpointId) => Effect.Effect<void>
    /** When the next delivery beside the held ones is due. */
    readonly nextDue: (id: EndpointId, held: ReadonlySet<DeliveryId>) => Effect.Effect<Option.Option<DateTime.Utc>>
    readonly attempt: (target: OpenEndpoint, delivery: DueDelivery) => Effect.Effect<Settlement>
    /** Counts rows that a loop takes into memory, or lets go of. */
    readonly hold: (rows: number) => void
    /** How many more rows all loops together may take into memory. */
    readonly spare: () => number
    /** Waits until one more attempt may be under way in this process; once it is, it is finished. */
    readonly withPermit: <A, E, R>(attempt: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Writes outcomes back; `isOver` when they end the endpoint, whose other deliveries are then canceled. */
    readonly settle: (
      id: EndpointId,
      settlements: ReadonlyArray<Settlement>
    ) => Effect.Effect<{ readonly isOver: boolean }>
    readonly cancel: (id: EndpointId) => Effect.Effect<void>
    /** Endpoints with something due until then. */
    readonly endpointsDue: (until: DateTime.Utc) => Effect.Effect<ReadonlyArray<EndpointId>>
  }
>() {
  static readonly layer = Layer.effect(
    Dispatch,
    Effect.gen(function* () {
      const endpoints = yield* EndpointRepo
      const queue = yield* QueueRepo
      const attempts = yield* Attempt
      const seal = yield* Seal
      const clock = yield* Effect.clock
      let held = 0
      const permits = yield* Queue.bounded<void>(sentAtOnce)
      yield* Queue.offerAll(permits, Array.replicate(undefined, sentAtOnce))

      const open = Effect.fn("Dispatch.open")(function* (id: EndpointId) {
        const row = yield* endpoints.byId(id)
        if (Option.isNone(row)) return Option.none()
        const { previousSecretSealed, previousSecretUntil, secretSealed, ...fields } = row.value
        const now = yield* DateTime.now
        const isInOverlap = Option.exists(previousSecretUntil, DateTime.greaterThan(now))
        const unseal = (sealed: string) => Effect.orDie(seal.open(sealed, id))
        return Option.some({
          endpoint: Endpoint.make(fields),
          secret: yield* unseal(secretSealed),
          previousSecret: isInOverlap ? yield* Effect.transposeMapOption(previousSecretSealed, unseal) : Option.none()
        })
      })

      const attempt = ({ endpoint, ...secrets }: OpenEndpoint, delivery: DueDelivery) =>
        Effect.flatMap(nextId, (id) => {
          const startedAt = DateTime.unsafeMake(clock.unsafeCurrentTimeMillis())
          const sent = attempts.send({
            url: endpoint.url,
            body: delivery.body,
            headers: headersOf(secrets, delivery, { id, startedAt }),
            timeout: Duration.seconds(endpoint.timeoutSeconds)
          })
          return Effect.map(sent, ({ code, durationMs, error, responseBody, retryAfter }): Settlement => {
            const now = DateTime.unsafeMake(clock.unsafeCurrentTimeMillis())
            const { attemptCount, id: deliveryId } = delivery
            const judged = verdict({ attemptCount, retryCount: endpoint.retryCount, code, retryAfter, now })
            return { ...judged, deliveryId, attempt: { id, startedAt, durationMs, code, responseBody, error } }
          })
        })

      const measure = ({ attempt: { durationMs }, state }: Settlement) => {
        attemptsBy[state].unsafeUpdate(1, [])
        webhookSeconds.unsafeUpdate(durationMs / 1000, [])
      }

      const disable = (id: EndpointId, reason: string) =>
        Effect.all([
          endpoints.disable(id, reason),
          queue.cancel(id),
          Effect.logWarning("a webhook was disabled").pipe(Effect.annotateLogs({ webhook: id, reason }))
        ])

      const settle = Effect.fn("Dispatch.settle")(function* (id: EndpointId, settlements: ReadonlyArray<Settlement>) {
        const health = healthOf(settlements.map(({ attempt: { code } }) => code))
        yield* queue.settle(id, settlements, health === "well")
        settlements.forEach(measure)
        if (health === "well") return { isOver: false }
        if (health === "gone") {
          yield* disable(id, "the target answered 410 Gone")
          return { isOver: true }
        }
        const now = yield* DateTime.now
        const noted = yield* endpoints.noteFailure({ id, now })
        const isOver = Option.exists(noted, ({ failingSince }) => isLost(failingSince, now))
        if (isOver) yield* disable(id, "no delivery succeeded for 3 days")
        return { isOver }
      })

      return Dispatch.of({
        open,
        claim: (endpointId, limit, held) =>
          Effect.flatMap(DateTime.now, (now) => queue.claim({ endpointId, now, limit, held: [...held] })),
        release: queue.release,
        nextDue: (endpointId, held) => queue.nextDue({ endpointId, held: [...held] }),
        attempt,
        hold: (rows) => {
          held += rows
        },
        spare: () => Math.max(0, heldAtOnce - held),
        withPermit: (effect) =>
          Effect.uninterruptibleMask((restore) =>
            Effect.zipRight(
              restore(Queue.take(permits)),
              Effect.ensuring(
                effect,
                Effect.sync(() => permits.unsafeOffer(undefined))
              )
            )
          ),
        settle,
        cancel: queue.cancel,
        endpointsDue: (until) => Effect.map(queue.endpointsDue(until), (rows) => rows.map(({ id }) => id))
      })
    })
  )
}
