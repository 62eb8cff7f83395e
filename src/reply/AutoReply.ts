import { Clock, Context, DateTime, Duration, Effect, Layer, Metric, Option, Random, Redacted, Schedule } from "effect"
import { nextId } from "../kit/Id.ts"
import { aiReplies } from "../Metrics.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { AiLogRepo } from "./AiLogRepo.ts"
import { AiSettings, type Configured } from "./AiSettings.ts"
import { type ChatAnswer, ChatModel, type ChatModelFailure } from "./ChatModel.ts"
import { AiLog, aiLogItem } from "./domain/AiLog.ts"
import { conversation, typingTime, windowSize } from "./domain/Conversation.ts"
import { skipReason, type SkipReason } from "./domain/Eligibility.ts"
import { ReplyChannel, type TriggeringMessage } from "./ReplyChannel.ts"

const hour = Duration.hours(1)
const repeats = 2

/** The provider's own wish for the next attempt, else a second, then two. */
const patience = Schedule.identity<ChatModelFailure>().pipe(
  Schedule.intersect(Schedule.recurs(repeats)),
  Schedule.addDelay(([{ retryAfter }, attempt]) => Option.getOrElse(retryAfter, () => Duration.seconds(2 ** attempt)))
)

type ReplyEvent = "ai.reply.generated" | "ai.reply.sent" | "ai.reply.failed"

const isPassing = ({ kind }: ChatModelFailure) =>
  kind === "rate_limited" || kind === "provider_error" || kind === "timeout" || kind === "network"

/**
 * The auto-reply flow (gateway specification, part 6): `advance` takes one reply from the state of its row to its end.
 * Every step ends in one transaction that moves the row, so a crash between any two steps goes on where it was, and the
 * platform is asked once per stored message.
 */
export class AutoReply extends Context.Tag("gatehouse/reply/AutoReply")<
  AutoReply,
  { readonly advance: (logId: string) => Effect.Effect<void> }
>() {
  static readonly layer = Layer.effect(
    AutoReply,
    Effect.gen(function* () {
      const logs = yield* AiLogRepo
      const settings = yield* AiSettings
      const model = yield* ChatModel
      const channel = yield* ReplyChannel
      const outbox = yield* Outbox

      /** Moves the row and tells of it in one transaction. */
      const move = Effect.fn("AutoReply.move")(
        function* (from: AiLog, changes: Partial<typeof AiLog.Type>, event: Option.Option<ReplyEvent>) {
          const to = AiLog.make({ ...from, ...changes })
          const isOurs = yield* logs.move(from, to)
          if (!isOurs || Option.isNone(event)) return to
          const timestamp = yield* DateTime.now
          const owner = { kind: "account", id: to.accountId } as const
          yield* outbox.publish([{ eventId: yield* nextId, owner, event: event.value, timestamp, data: aiLogItem(to) }])
          return to
        },
        (effect) => outbox.transaction(effect),
        Effect.orDie
      )

      const counted = (outcome: string) => Metric.increment(Metric.tagged(aiReplies, "outcome", outcome))

      const skip = (log: AiLog, reason: SkipReason) =>
        Effect.zipRight(
          move(log, { status: "skipped", reason: Option.some(reason) }, Option.none()),
          counted("skipped")
        )

      const failed = (log: AiLog, reason: string) =>
        Effect.zipRight(
          move(log, { status: "failed", reason: Option.some(reason) }, Option.some("ai.reply.failed")),
          counted("failed")
        )

      const judge = Effect.fn("AutoReply.judge")(function* (log: AiLog, message: TriggeringMessage) {
        const chat = yield* channel.chat(log.accountId, log.chatId)
        if (Option.isNone(chat))
          return { reason: Option.some<SkipReason>("chat disabled"), configured: Option.none<Configured>() }
        const configured = yield* settings.configured(log.accountId, chat.value)
        const since = DateTime.subtractDuration(yield* DateTime.now, hour)
        const repliesInLastHour = yield* logs.sentSince({ accountId: log.accountId, chatId: log.chatId, since })
        const reason = skipReason({
          settings: configured.settings,
          hasApiKey: Option.isSome(configured.apiKey),
          chatType: chat.value.type,
          isBlocked: chat.value.isBlocked,
          messageType: message.type,
          writtenAt: message.writtenAt,
          arrivedAt: log.createdAt,
          repliesInLastHour
        })
        return { reason, configured: Option.some(configured) }
      })

      const ask = Effect.fn("AutoReply.ask")(function* (log: AiLog, { apiKey, settings: effective }: Configured) {
        const window = yield* channel.window(log.accountId, log.chatId, log.messageId, windowSize)
        const timeout = Duration.seconds(effective.timeoutSeconds)
        const call = model.complete({
          baseUrl: effective.baseUrl,
          apiKey: Option.getOrElse(apiKey, () => Redacted.make("")),
          model: effective.modelName,
          turns: conversation(effective.systemPrompt, effective.businessKnowledge, window),
          temperature: effective.temperature,
          maxTokens: effective.maxTokens,
          timeout
        })
        return yield* Effect.retry(call, { while: isPassing, schedule: patience })
      })

      const echo = (message: TriggeringMessage): ChatAnswer => ({
        reply: message.body,
        model: "echo",
        promptTokens: Option.some(0),
        completionTokens: Option.some(0)
      })

      const generate = Effect.fn("AutoReply.generate")(function* (log: AiLog, message: TriggeringMessage) {
        const { configured, reason } = yield* judge(log, message)
        if (Option.isSome(reason)) return yield* skip(log, reason.value)
        if (Option.isNone(configured)) return yield* Effect.void
        const startedAt = yield* Clock.currentTimeMillis
        const { replyDelaySeconds, timeoutSeconds } = configured.value.settings
        const answer = yield* Effect.either(
          configured.value.settings.echoMode
            ? Effect.succeed(echo(message))
            : ask(log, configured.value).pipe(Effect.timeout(Duration.seconds(timeoutSeconds * 3)))
        )
        const endedAt = yield* Clock.currentTimeMillis
        if (answer._tag === "Left") {
          const error = answer.left
          const words = error._tag === "ChatModelFailure" ? `${error.kind}: ${error.message}` : "timeout"
          return yield* failed(log, words)
        }
        const { completionTokens, model: modelName, promptTokens, reply } = answer.right
        yield* move(
          log,
          {
            status: "generated",
            reply: Option.some(reply),
            modelName: Option.some(modelName),
            promptTokens,
            completionTokens,
            latencyMs: Option.some(Math.round(endedAt - startedAt)),
            dueAt: Option.some(DateTime.unsafeMake(endedAt + replyDelaySeconds * 1000))
          },
          Option.some("ai.reply.generated")
        )
      })

      const waitAndType = Effect.fn("AutoReply.waitAndType")(function* (log: AiLog, text: string) {
        const now = yield* DateTime.now
        const due = Option.getOrElse(log.dueAt, () => now)
        if (DateTime.greaterThan(due, now)) yield* Effect.sleep(DateTime.distanceDuration(now, due))
        yield* Effect.sleep(typingTime(text, yield* Random.next))
      })

      const hand = Effect.fn("AutoReply.hand")(
        function* (log: AiLog, body: string) {
          const id = yield* nextId
          const isOurs = yield* logs.move(log, AiLog.make({ ...log, replyMessageId: Option.some(id) }))
          if (isOurs) yield* channel.queue({ id, accountId: log.accountId, chatId: log.chatId, body })
        },
        (effect) => outbox.transaction(effect),
        Effect.orDie
      )

      const send = Effect.fn("AutoReply.send")(function* (log: AiLog, message: TriggeringMessage) {
        const body = Option.getOrElse(log.reply, () => "")
        yield* waitAndType(log, body)
        const { reason } = yield* judge(log, message)
        if (Option.isSome(reason)) return yield* skip(log, reason.value)
        yield* hand(log, body)
      })

      const finish = Effect.fn("AutoReply.finish")(function* (log: AiLog, replyMessageId: string) {
        const { error, isSent } = yield* channel.sent(log.accountId, replyMessageId)
        if (!isSent)
          return yield* failed(
            log,
            Option.getOrElse(error, () => "the channel did not send it")
          )
        yield* move(log, { status: "sent" }, Option.some("ai.reply.sent"))
        yield* counted("sent")
      })

      const step = Effect.fn("AutoReply.step")(function* (log: AiLog) {
        const message = yield* channel.message(log.messageId)
        if (Option.isNone(message)) return yield* skip(log, "chat disabled")
        if (log.status === "pending") return yield* generate(log, message.value)
        if (Option.isSome(log.replyMessageId)) return yield* finish(log, log.replyMessageId.value)
        return yield* send(log, message.value)
      })

      const advance = (logId: string): Effect.Effect<void> =>
        Effect.flatMap(logs.byId(logId), (log) =>
          log.isOpen
            ? Effect.zipRight(
                step(log),
                Effect.suspend(() => advance(logId))
              )
            : Effect.void
        )

      return AutoReply.of({ advance })
    })
  )
}
