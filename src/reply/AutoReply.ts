import { Array, Clock, Context, Data, DateTime, Duration, Effect, Either, Layer, Option, Random } from "effect"
import { nextId } from "../kit/Id.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { AiLogRepo } from "./AiLogRepo.ts"
import { AiLogs } from "./AiLogs.ts"
import { askModel } from "./AskModel.ts"
import { type ChatAnswer, ChatModel, type ChatModelFailure } from "./ChatModel.ts"
import type { AiLog } from "./domain/AiLog.ts"
import { typingTime, windowSize } from "./domain/Conversation.ts"
import { plan, skipReason, type SkipReason } from "./domain/Eligibility.ts"
import { splitReply } from "./domain/LongReply.ts"
import { alertText, keywordIn } from "./domain/ManagerAlert.ts"
import type { ReplyJob } from "./domain/ReplyJob.ts"
import { spokenReply } from "./domain/SpokenReply.ts"
import { ReplyChannel } from "./ReplyChannel.ts"
import { ReplyJobRepo } from "./ReplyJobRepo.ts"
import { Rules, type Situation, type Waiting } from "./Rules.ts"

/** A platform forgets that somebody types after some ten seconds. */
const typingShown = Duration.seconds(8)
/** A job that finds nothing to do is not asked again at once. */
const breather = Duration.minutes(1)

/** Noted as the reason of a reply that was sent without its unfinished end. */
const cutOff = "truncated"

/** Another worker was faster: the transaction is undone, the job is looked at anew. */
class Outrun extends Data.TaggedError("Outrun")<{}> {}

const orOutrun = (change: Effect.Effect<boolean>): Effect.Effect<void, Outrun> =>
  Effect.flatMap(change, (isOurs) => (isOurs ? Effect.void : new Outrun()))

interface Generated {
  readonly log: AiLog
  readonly dueAt: DateTime.Utc
}

/**
 * The auto-reply flow (gateway specification, part 6) for one chat, over its durable job: choose a message, ask, wait,
 * type, look at the rules again, hand over to the channel. Every step ends in one transaction that moves reply and job and
 * tells the event, so a crash between any two steps goes on where it was, and nothing is done twice.
 */
export class AutoReply extends Context.Tag("gatehouse/reply/AutoReply")<
  AutoReply,
  {
    /** Takes the chat's replies as far as they go now; returns when the channel or a later moment has the next word. */
    readonly advance: (accountId: string, chatId: string) => Effect.Effect<void>
    /**
     * Asked by the channel right before it sends a message, in the transaction that says so: the reason why a reply may
     * not go out any more, which ends it.
     */
    readonly withheld: (messageId: string) => Effect.Effect<Option.Option<string>>
  }
>() {
  static readonly layer = Layer.effect(
    AutoReply,
    Effect.gen(function* () {
      const repo = yield* AiLogRepo
      const logs = yield* AiLogs
      const jobs = yield* ReplyJobRepo
      const rules = yield* Rules
      const model = yield* ChatModel
      const channel = yield* ReplyChannel
      const outbox = yield* Outbox

      const atomically = <A>(effect: Effect.Effect<A, Outrun>) =>
        Effect.catchTag(outbox.transaction(effect), "SqlError", Effect.die)

      const end = (log: AiLog) =>
        Effect.flatMap(DateTime.now, (now) => orOutrun(jobs.end(log, 1, Option.some(log.id), now)))

      const skip = (log: AiLog, reason: SkipReason) =>
        orOutrun(logs.move(log, { status: "skipped", reason: Option.some(reason) }, Option.none()))

      const failed = (log: AiLog, reason: string, detail: Option.Option<string>) =>
        Effect.zipRight(
          orOutrun(
            logs.move(log, { status: "failed", reason: Option.some(reason), detail }, Option.some("ai.reply.failed"))
          ),
          end(log)
        )

      const alert = Effect.fn("AutoReply.alert")(function* (
        log: AiLog,
        { chat, configured }: Situation,
        why: string,
        texts: ReadonlyArray<string>
      ) {
        const { to } = configured.settings.managerAlerts.value
        if (to === log.chatId) return
        const body = alertText(why, chat.name, texts)
        yield* channel.queue({ id: yield* nextId, accountId: log.accountId, to, body })
      })

      const alertOfKeyword = (situation: Situation, answered: Waiting, before: ReadonlyArray<Waiting>) => {
        const alerts = situation.configured.settings.managerAlerts.value
        const texts = [...before, answered].map(({ body }) => body)
        return Option.match(alerts.enabled ? keywordIn(alerts, texts) : Option.none(), {
          onNone: () => Effect.void,
          onSome: (keyword) => alert(answered.log, situation, `“${keyword}”`, texts)
        })
      }

      /** Step 2: what is not answered is skipped, and what is becomes the one reply of the chat. */
      const choose = Effect.fn("AutoReply.choose")(function* (job: ReplyJob, open: ReadonlyArray<AiLog>) {
        const now = yield* DateTime.now
        const waiting = yield* rules.waiting(open)
        if (!Array.isNonEmptyReadonlyArray(waiting)) {
          yield* jobs.wait(job, DateTime.addDuration(now, breather))
          return Option.none<readonly [Waiting, Situation]>()
        }
        const situation = yield* rules.situation(job.accountId, job.chatId)
        const { answer, skipped, waitUntil } = plan(situation.rules, waiting)
        if (Option.isSome(waitUntil)) {
          yield* jobs.wait(job, waitUntil.value)
          return Option.none<readonly [Waiting, Situation]>()
        }
        yield* atomically(
          Effect.gen(function* () {
            yield* Effect.forEach(skipped, ({ message, reason }) => skip(message.log, reason), { discard: true })
            const last = Array.last(skipped)
            if (Option.isSome(last)) {
              yield* orOutrun(jobs.end(last.value.message.log, skipped.length, Option.none(), now))
            }
            if (Option.isNone(answer)) return
            yield* orOutrun(jobs.begin(answer.value.log))
            const superseded = skipped.filter(({ reason }) => reason === "superseded").map(({ message }) => message)
            yield* alertOfKeyword(situation, answer.value, superseded)
          })
        )
        return Option.map(answer, (one) => [one, situation] as const)
      })

      const echo = ({ body }: Waiting): ChatAnswer => ({
        reply: body,
        isCutOff: false,
        model: "echo",
        promptTokens: Option.some(0),
        completionTokens: Option.some(0)
      })

      const answerOf = ({ configured }: Situation, message: Waiting): Effect.Effect<ChatAnswer, ChatModelFailure> => {
        const { accountId, chatId, messageId } = message.log
        if (configured.settings.echoMode.value) return Effect.succeed(echo(message))
        return Effect.flatMap(channel.window(accountId, chatId, Option.some(messageId), windowSize), (window) =>
          askModel(model, configured, window)
        )
      }

      /** Steps 3 to 5. None when there is nothing to send. */
      const generate = Effect.fn("AutoReply.generate")(function* (message: Waiting, situation: Situation) {
        const { log } = message
        const startedAt = yield* Clock.currentTimeMillis
        const answered = yield* Effect.either(answerOf(situation, message))
        const endedAt = yield* Clock.currentTimeMillis
        if (Either.isLeft(answered)) {
          const { kind, message: words } = answered.left
          yield* atomically(failed(log, kind, Option.some(words)))
          return Option.none<Generated>()
        }
        const { completionTokens, isCutOff, model: modelName, promptTokens } = answered.right
        const { managerAlerts, replyDelaySeconds } = situation.configured.settings
        const { isHandOff, text } = spokenReply(answered.right, managerAlerts.value.enabled)
        const dueAt = DateTime.unsafeMake(endedAt + replyDelaySeconds.value * 1000)
        const changes = {
          status: text === "" ? ("failed" as const) : ("generated" as const),
          reason:
            text === "" ? Option.some("empty_completion") : isCutOff ? Option.some(cutOff) : Option.none<string>(),
          reply: Option.some(text),
          modelName: Option.some(modelName),
          promptTokens,
          completionTokens,
          latencyMs: Option.some(Math.round(endedAt - startedAt))
        }
        const event = text === "" ? "ai.reply.failed" : "ai.reply.generated"
        yield* atomically(
          Effect.gen(function* () {
            yield* orOutrun(logs.move(log, changes, Option.some(event)))
            if (isHandOff) yield* alert(log, situation, "A person is asked for", [message.body])
            yield* text === "" ? end(log) : orOutrun(jobs.goOn(log, Option.some(dueAt)))
          })
        )
        return text === "" ? Option.none<Generated>() : Option.some({ log: yield* repo.byId(log.id), dueAt })
      })

      /** Step 6, first half: the other side sees somebody type for as long as a person would. */
      const type = Effect.fn("AutoReply.type")(function* ({ accountId, chatId, reply }: AiLog) {
        const text = Option.getOrElse(reply, () => "")
        let left = typingTime(text, yield* Random.next)
        while (Duration.greaterThan(left, Duration.zero)) {
          yield* channel.typing(accountId, chatId, true)
          const shown = Duration.min(left, typingShown)
          yield* Effect.sleep(shown)
          left = Duration.subtract(left, shown)
        }
      })

      /** Step 6, second half: the rules again, then the reply is the channel's to send, part by part. */
      const hand = Effect.fn("AutoReply.hand")(function* (log: AiLog) {
        const { chat, rules: situation } = yield* rules.situation(log.accountId, log.chatId)
        const reason = skipReason(situation, yield* rules.message(log))
        if (Option.isSome(reason)) {
          yield* channel.typing(log.accountId, log.chatId, false)
          return yield* atomically(Effect.zipRight(skip(log, reason.value), end(log)))
        }
        const parts = splitReply(
          Option.getOrElse(log.reply, () => ""),
          chat.longestText
        )
        const messages = yield* Effect.forEach(parts, (body) => Effect.map(nextId, (id) => ({ id, body })))
        yield* atomically(
          Effect.gen(function* () {
            const replyMessageId = Option.map(Array.head(messages), ({ id }) => id)
            yield* orOutrun(logs.move(log, { replyMessageId }, Option.none()))
            yield* jobs.addParts(
              log,
              messages.map(({ id }) => id)
            )
            yield* Effect.forEach(
              messages,
              ({ body, id }) => channel.queue({ id, accountId: log.accountId, to: log.chatId, body }),
              { discard: true }
            )
            yield* orOutrun(jobs.goOn(log, Option.none()))
          })
        )
      })

      const deliver = (log: AiLog) => Effect.zipRight(type(log), hand(log))

      const answer = Effect.fn("AutoReply.answer")(function* (message: Waiting, situation: Situation) {
        const generated = yield* generate(message, situation)
        if (Option.isNone(generated)) return
        const { dueAt, log } = generated.value
        if (DateTime.lessThanOrEqualTo(dueAt, yield* DateTime.now)) yield* deliver(log)
      })

      /** A message whose answer a crash cut short is judged and asked about anew. */
      const resume = Effect.fn("AutoReply.resume")(function* (log: AiLog) {
        const situation = yield* rules.situation(log.accountId, log.chatId)
        const message = yield* rules.message(log)
        const reason = skipReason(situation.rules, message)
        if (Option.isNone(reason)) return yield* answer(message, situation)
        yield* atomically(Effect.zipRight(skip(log, reason.value), end(log)))
      })

      const step = Effect.fn("AutoReply.step")(function* (job: ReplyJob) {
        const open = yield* repo.open({ accountId: job.accountId, chatId: job.chatId })
        const current = open.find(({ id }) => Option.contains(job.current, id))
        if (current === undefined) {
          const chosen = yield* choose(job, open)
          if (Option.isSome(chosen)) yield* answer(...chosen.value)
          return
        }
        if (current.status === "pending") return yield* resume(current)
        if (Option.isNone(current.replyMessageId)) yield* deliver(current)
      })

      const advance = Effect.fn("AutoReply.advance")(
        function* (accountId: string, chatId: string) {
          const job = yield* jobs.byChat({ accountId, chatId })
          if (Option.isSome(job)) yield* step(job.value)
        },
        Effect.catchTag("Outrun", () => Effect.logDebug("another worker answers in this chat"))
      )

      const withheld = Effect.fn("AutoReply.withheld")(
        function* (messageId: string) {
          const part = yield* jobs.part(messageId)
          if (Option.isNone(part)) return Option.none<string>()
          const { isFirst, log } = part.value
          if (!log.isOpen) return Option.some("an earlier part was not sent")
          const { rules: situation } = yield* rules.held(log.accountId, log.chatId)
          const reason = skipReason(situation, yield* rules.message(log))
          if (Option.isNone(reason)) return Option.none<string>()
          yield* isFirst
            ? Effect.zipRight(skip(log, reason.value), end(log))
            : failed(log, "cut short", Option.some(reason.value))
          return Option.some<string>(reason.value)
        },
        Effect.catchTag("Outrun", () => Effect.succeedSome("the reply has ended"))
      )

      return AutoReply.of({ advance, withheld })
    })
  )
}
