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
export const storeNotifications = Metric.counter("gatehouse_store_notifications_total", {
  description: "Store notifications received, by store and result",
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
export const channelPolls = Metric.counter("gatehouse_channel_polls_total", {
  description: "Polls of platform_b channels, by result",
  incremental: true
})
export const securityEvents = Metric.counter("gatehouse_security_events_total", {
  description: "Refused credentials, failed logins and forged notifications, by kind",
  incremental: true
})
