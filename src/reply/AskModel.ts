import { Clock, type Context, Duration, Effect, Either, Metric, Option, Redacted } from "effect"
import { aiProviderSeconds } from "../Metrics.ts"
import type { Configured } from "./AiSettings.ts"
import type { ChatAnswer, ChatModel, ChatModelFailure } from "./ChatModel.ts"
import { waitBefore } from "./domain/Attempts.ts"
import { conversation, type WindowMessage } from "./domain/Conversation.ts"
import { handOffInstruction } from "./domain/ManagerAlert.ts"

type Model = Context.Tag.Service<typeof ChatModel>

/** For all attempts and the waits before them. */
const budgetOf = ({ timeoutSeconds }: Configured["settings"]) => Duration.seconds(3 * timeoutSeconds.value)

/** One call of the provider, as configured. It has ended when `patience` has; unless told otherwise, after three time-outs. */
export const askOnce = Effect.fnUntraced(function* (
  model: Model,
  { apiKey, settings }: Configured,
  window: ReadonlyArray<WindowMessage>,
  patience = budgetOf(settings)
) {
  const key = yield* apiKey
  const instructions = settings.managerAlerts.value.enabled ? [handOffInstruction] : []
  const [time, answer] = yield* Effect.timed(
    Effect.either(
      model.complete({
        baseUrl: settings.baseUrl.value,
        apiKey: Option.getOrElse(key, () => Redacted.make("")),
        model: settings.modelName.value,
        turns: conversation(settings.systemPrompt.value, settings.businessKnowledge.value, window, instructions),
        temperature: Option.fromNullable(settings.temperature.value),
        maxTokens: Option.fromNullable(settings.maxTokens.value),
        timeout: Duration.seconds(settings.timeoutSeconds.value),
        patience
      })
    )
  )
  const result = Either.match(answer, { onLeft: ({ kind }) => kind, onRight: () => "ok" })
  yield* Metric.update(Metric.tagged(aiProviderSeconds, "result", result), Duration.toSeconds(time))
  return yield* answer
})

/** The newer half; a single message cannot be made shorter. */
const shorter = (window: ReadonlyArray<WindowMessage>) => window.slice(Math.floor(window.length / 2))

/**
 * Repeats what may pass, twice at most and within three time-outs; the last failure counts. A conversation that is too
 * long for the model is once asked about with the newer half of its messages.
 */
export const askModel = Effect.fnUntraced(function* (
  model: Model,
  configured: Configured,
  window: ReadonlyArray<WindowMessage>
) {
  const budget = budgetOf(configured.settings)
  const startedAt = yield* Clock.currentTimeMillis
  const left = Effect.map(Clock.currentTimeMillis, (now) => Duration.subtract(budget, Duration.millis(now - startedAt)))

  const attempt = (
    failures: number,
    shown: ReadonlyArray<WindowMessage>
  ): Effect.Effect<ChatAnswer, ChatModelFailure> =>
    Effect.catchAll(
      Effect.flatMap(left, (patience) => askOnce(model, configured, shown, patience)),
      (failure) => {
        const isWhole = shown.length === window.length
        if (failure.kind === "context_too_long" && isWhole && window.length > 1) {
          return attempt(failures, shorter(window))
        }
        return Effect.flatMap(left, (patience) =>
          Option.match(waitBefore(failures, failure, patience), {
            onNone: () => Effect.fail(failure),
            onSome: (wait) => Effect.delay(attempt(failures + 1, shown), wait)
          })
        )
      }
    )
  return yield* attempt(1, window)
})
