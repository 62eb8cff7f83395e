import { Context, DateTime, Duration, Effect, Exit, Layer, Metric, Option, type Redacted } from "effect"
import { idAt } from "../kit/Id.ts"
import { Seal } from "../kit/Seal.ts"
import { webhookAttempts, webhookSeconds } from "../Metrics.ts"
import { Attempt, type AttemptOutcome } from "./Attempt.ts"
import type { Circuit } from "./domain/Circuit.ts"
import type { DueDelivery, Settlement } from "./domain/Delivery.ts"
import { Endpoint } from "./domain/Endpoint.ts"
import { healthOf, isLost } from "./domain/Health.ts"
import { verdict } from "./domain/Settle.ts"
import { sign, signStandard } from "./domain/Signature.ts"
import type { DeliveryId, EndpointId } from "./domain/Webhook.ts"
import { DueRepo } from "./DueRepo.ts"
import { EndpointRepo } from "./EndpointRepo.ts"
import { Permits } from "./Permits.ts"
import * as SettlementWriter from "./SettlementWriter.ts"
import { UnderWay } from "./UnderWay.ts"

const userAgent = "Gatehouse-Webhook/1.0"

/** Attempts under way at one time, over all endpoints: what sockets and memory are sized for. */
const sentAtOnce = 1024

/** Rows and bytes in memory at one time, over all endpoints; the first few of each come on top. */
const heldAtOnce: Load = { rows: 32_768, bytes: 32 * 1024 * 1024 }

/** What deliveries weigh in memory: `bytes` counts bodies. */
export interface Load {
  readonly rows: number
  readonly bytes: number
}

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

/** One attempt that is over, not judged yet. `retryCount` is what the endpoint had been promised when it began. */
export interface Attempted {
  readonly delivery: DueDelivery
  readonly retryCount: number
  readonly id: string
  readonly startedAt: DateTime.Utc
  readonly outcome: AttemptOutcome
}

const settlementOf = ({ delivery, id, outcome, retryCount, startedAt }: Attempted): Settlement => {
  const { code, durationMs, error, responseBody, retryAfter } = outcome
  const now = DateTime.unsafeMake(startedAt.epochMillis + durationMs)
  return {
    ...verdict({ attemptCount: delivery.attemptCount, retryCount, code, retryAfter, now }),
    deliveryId: delivery.id,
    attempt: { id, startedAt, durationMs, code, responseBody, error }
  }
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
    /**
     * Takes due deliveries beside the held ones, as many as `room` says and one at least: they are `delivering` until
     * settled or released. An ordered endpoint's are each the first of their key.
     */
    readonly claim: (
      endpoint: Endpoint,
      room: Load,
      held: Iterable<DeliveryId>
    ) => Effect.Effect<ReadonlyArray<DueDelivery>>
    /** Gives back what was claimed and never sent, by a loop that crashed too. */
    readonly release: (id: EndpointId) => Effect.Effect<void>
    /** When the next delivery beside the held ones is due. */
    readonly nextDue: (endpoint: Endpoint, held: Iterable<DeliveryId>) => Effect.Effect<Option.Option<DateTime.Utc>>
    /** Begins an attempt, which is then finished whatever happens; `landed` hears what came back. */
    readonly attempt: (target: OpenEndpoint, delivery: DueDelivery, landed: (attempted: Attempted) => void) => void
    /** For attempts under way in this process. */
    readonly permits: Permits
    /** Counts what a loop takes into memory, or lets go of. */
    readonly hold: (load: Load) => void
    /** How much more all loops together may take into memory. */
    readonly spare: () => Load
    /** Opens or closes the circuit of an endpoint, for everyone to see. */
    readonly pause: (id: EndpointId, circuit: Circuit) => Effect.Effect<void>
    /** Judges attempts and writes them back; `isOver` when they end the endpoint, whose other deliveries are then canceled. */
    readonly settle: (
      id: EndpointId,
      attempted: ReadonlyArray<Attempted>
    ) => Effect.Effect<{ readonly settlements: ReadonlyArray<Settlement>; readonly isOver: boolean }>
    /**
     * Writes back a success of an endpoint that has no failures to forget, without a fiber that waits. `written` hears
     * of it once; none: it has to be settled like any other.
     */
    readonly keep: (attempted: Attempted, written: (settlement: Option.Option<Settlement>) => void) => void
    readonly cancel: (id: EndpointId) => Effect.Effect<void>
  }
>() {
  static readonly layer = Layer.scoped(
    Dispatch,
    Effect.gen(function* () {
      const endpoints = yield* EndpointRepo
      const settlement = yield* SettlementWriter.make
      const attempts = yield* Attempt
      const due = yield* DueRepo
      const seal = yield* Seal
      const clock = yield* Effect.clock
      const { ids: underWay } = yield* UnderWay
      let rows = 0
      let bytes = 0

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

      const attempt = (
        { endpoint, ...secrets }: OpenEndpoint,
        delivery: DueDelivery,
        landed: (attempted: Attempted) => void
      ) => {
        const startedAt = DateTime.unsafeMake(clock.unsafeCurrentTimeMillis())
        const id = idAt(startedAt.epochMillis)
        const request = {
          url: endpoint.url,
          body: delivery.body,
          headers: headersOf(secrets, delivery, { id, startedAt }),
          timeout: Duration.seconds(endpoint.timeoutSeconds)
        }
        const { retryCount } = endpoint
        underWay.add(delivery.id)
        attempts.begin(request, (outcome) => landed({ delivery, retryCount, id, startedAt, outcome }))
      }

      const measure = ({ attempt: { durationMs }, state }: Settlement) => {
        attemptsBy[state].unsafeUpdate(1, [])
        webhookSeconds.unsafeUpdate(durationMs / 1000, [])
      }

      const note = (settled: Settlement) => {
        underWay.delete(settled.deliveryId)
        measure(settled)
      }
      const keep: Dispatch["Type"]["keep"] = (attempted, written) => {
        const settled = settlementOf(attempted)
        const isWaiting = settlement.offer({ settlements: [settled], well: [] }, (exit) => {
          if (Exit.isFailure(exit)) return written(Option.none())
          note(settled)
          written(Option.some(settled))
        })
        if (!isWaiting) written(Option.none())
      }

      /** In parts, so that no statement holds the rows of a long line for long. */
      const cancel = (id: EndpointId) => Effect.asVoid(Effect.repeat(due.cancel(id), { until: (isAll) => isAll }))

      const disable = (id: EndpointId, reason: string) =>
        Effect.all([
          endpoints.disable(id, reason),
          cancel(id),
          Effect.logWarning("a webhook was disabled").pipe(Effect.annotateLogs({ webhook: id, reason }))
        ])

      const settle = Effect.fn("Dispatch.settle")(function* (id: EndpointId, attempted: ReadonlyArray<Attempted>) {
        const settlements = attempted.map(settlementOf)
        const health = healthOf(settlements.map(({ attempt: { code } }) => code))
        yield* settlement.write({ settlements, well: health === "well" ? [id] : [] })
        settlements.forEach(note)
        if (health === "well") return { settlements, isOver: false }
        if (health === "gone") {
          yield* disable(id, "the target answered 410 Gone")
          return { settlements, isOver: true }
        }
        const now = yield* DateTime.now
        const noted = yield* endpoints.noteFailure({ id, now })
        const isOver = Option.exists(noted, ({ failingSince }) => isLost(failingSince, now))
        if (isOver) yield* disable(id, "no delivery succeeded for 3 days")
        return { settlements, isOver }
      })

      return Dispatch.of({
        open,
        claim: ({ id, isOrdered }, room, held) =>
          Effect.flatMap(DateTime.now, (now) =>
            due.claim({
              endpointId: id,
              isOrdered,
              now,
              limit: room.rows,
              bytes: Math.max(1, room.bytes),
              held: [...held]
            })
          ),
        release: due.release,
        nextDue: ({ id, isOrdered }, held) => due.nextDue({ endpointId: id, isOrdered, held: [...held] }),
        attempt,
        hold: (load) => {
          rows += load.rows
          bytes += load.bytes
        },
        spare: () => ({ rows: Math.max(0, heldAtOnce.rows - rows), bytes: Math.max(0, heldAtOnce.bytes - bytes) }),
        pause: (id, circuit) =>
          Effect.zipRight(
            endpoints.pause(id, circuit),
            Effect.logInfo(`the circuit of a webhook ${Option.isSome(circuit.until) ? "opened" : "closed"}`).pipe(
              Effect.annotateLogs({ webhook: id })
            )
          ),
        permits: new Permits(sentAtOnce),
        settle,
        keep,
        cancel
      })
    })
  )
}
