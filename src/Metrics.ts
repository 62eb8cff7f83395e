import { Metric, MetricBoundaries } from "effect"

const seconds = MetricBoundaries.fromIterable([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30])

/** Every metric of the program; `/metrics` prints them in Prometheus text format. Label values are closed lists. */
export const actorRestarts = Metric.counter("gatehouse_actor_restarts_total", {
  description: "Actors restarted by their supervisor, by kind of actor",
  incremental: true
})
export const httpResponses = Metric.counter("gatehouse_http_responses_total", {
  description: "HTTP answers, by status",
  incremental: true
})
export const webhookAttempts = Metric.counter("gatehouse_webhook_attempts_total", {
  description: "Webhook delivery attempts, by outcome",
  incremental: true
})
export const webhookSeconds = Metric.histogram("gatehouse_webhook_attempt_seconds", seconds, "Length of an attempt")
export const webhookBacklog = Metric.gauge("gatehouse_webhook_due", {
  description: "Webhook deliveries that are due, counted up to 100,000 every 30 seconds"
})
export const webhookOldest = Metric.gauge("gatehouse_webhook_oldest_due_seconds", {
  description: "Age of the oldest due webhook delivery to a target whose circuit is closed, every 30 seconds"
})
export const webhookCircuits = Metric.gauge("gatehouse_webhook_circuits", {
  description: "Webhooks with something due whose circuit is not closed, by state, every 30 seconds"
})
export const storeNotifications = Metric.counter("gatehouse_store_notifications_total", {
  description: "Store notifications received, by store and result",
  incremental: true
})
export const purchaseDetours = Metric.counter("gatehouse_purchase_detours_total", {
  description: "Notifications of store A that were not kept and applied in one statement, by reason",
  incremental: true
})
export const messages = Metric.counter("gatehouse_messages_total", {
  description: "Messages stored or sent, by platform, direction and source",
  incremental: true
})
export const aiReplies = Metric.counter("gatehouse_ai_replies_total", {
  description: "AI replies, by outcome",
  incremental: true
})
export const aiProviderSeconds = Metric.histogram(
  "gatehouse_ai_provider_seconds",
  seconds,
  "Length of a call of the AI provider, by result"
)
export const aiRepliesWaiting = Metric.gauge("gatehouse_ai_replies_waiting", {
  description: "AI replies that have not ended: pending, or generated and not sent"
})
export const channelPolls = Metric.counter("gatehouse_channel_polls_total", {
  description: "Polls of platform_b channels, by result",
  incremental: true
})
export const pollLateness = Metric.histogram(
  "gatehouse_channel_poll_lateness_seconds",
  seconds,
  "How long after its moment a poll of a platform_b channel was answered"
)
export const securityEvents = Metric.counter("gatehouse_security_events_total", {
  description: "Refused credentials, failed logins and forged notifications, by kind",
  incremental: true
})
