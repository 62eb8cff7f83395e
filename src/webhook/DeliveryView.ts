import { DateTime, Option } from "effect"
import type { Delivery } from "./domain/Delivery.ts"

/** The delivery record in wire form (contract, part 4, "Webhooks"). */
export const deliveryItem = (delivery: Delivery) => ({
  id: delivery.id,
  webhook_id: delivery.endpointId,
  account_id: delivery.ownerId,
  event: delivery.event,
  state: delivery.state,
  attempt_count: delivery.attemptCount,
  next_attempt_at: Option.getOrNull(Option.map(delivery.dueAt, DateTime.formatIso)),
  created_at: DateTime.formatIso(delivery.createdAt),
  payload: delivery.payload,
  attempts: delivery.attempts.map((attempt) => ({
    delivery_id: attempt.id,
    number: attempt.number,
    started_at: DateTime.formatIso(attempt.startedAt),
    duration_ms: attempt.durationMs,
    response_status: attempt.code === 0 ? null : attempt.code,
    response_body: attempt.responseBody,
    error: attempt.error,
    code: attempt.code
  }))
})
