import { Array, Clock, Context, DateTime, Duration, Effect, Either, Layer, Option, Random } from "effect"
import { nextId } from "../kit/Id.ts"
import { together } from "../kit/Together.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { AiLogRepo } from "./AiLogRepo.ts"
import { askModel } from "./AskModel.ts"
import { type ChatAnswer, ChatModel, type ChatModelFailure } from "./ChatModel.ts"
import { AiLog } from "./domain/AiLog.ts"
import { typingTime, windowSize } from "./domain/Conversation.ts"
import { plan, skipReason } from "./domain/Eligibility.ts"
import { splitReply } from "./domain/LongReply.ts"
import { alertText, keywordIn } from "./domain/ManagerAlert.ts"
import type { ReplyJob } from "./domain/ReplyJob.ts"
import { spokenReply } from "./domain/SpokenReply.ts"
import { type ChatKey, ReplyChannel } from "./ReplyChannel.ts"
import { ReplyJobRepo } from "./ReplyJobRepo.ts"
import * as ReplyEnds from "./ReplyEnds.ts"
import { type Outrun, ReplyWriter } from "./ReplyWriter.ts"
import { Rules, type Situation, type Waiting } from "./Rules.ts"

/** A platform forgets that somebody types after some ten seconds. */
const typingShown = Duration.seconds(8)
/** A job that finds nothing to do is not asked again at once. */
const breather = Duration.minutes(1)

/** Noted as the reason of a reply that was sent without its unfinished end. */
const cutOff = "truncated"

/** Chats whose jobs are read by one statement, and statements at a time. */
const reading = { atOnce: 128, lanes: 2 }

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
  }
>() {
  static readonly layer = Layer.scoped(
    AutoReply,
    Effect.gen(function* () {
      const repo = yield* AiLogRepo
      const jobs = yield* ReplyJobRepo
      const rules = yield* Rules
      const model = yield* ChatModel
      const channel = yield* ReplyChannel
      const writer = yield* ReplyWriter
      const { begun, end, failed, moved, orOutrun, skip } = yield* ReplyEnds.make
      const outbox = yield* Outbox

      const works = Effect.fn("AutoReply.works")(function* (keys: ReadonlyArray<ChatKey>) {
        const [found, open] = [yield* jobs.byChats(keys), yield* repo.open(keys)]
        const isOf = (key: ChatKey) => (one: ChatKey) => one.accountId === key.accountId && one.chatId === key.chatId
        const ofChats = Array.groupBy(open, ({ accountId, chatId }) => `${accountId} ${chatId}`)
        return keys.map((key) => ({
          job: Array.findFirst(found, isOf(key)),
          open: ofChats[`${key.accountId} ${key.chatId}`] ?? []
        }))
      })
      const work = yield* together(reading, works)

      const atomically = <A>(effect: Effect.Effect<A, Outrun>) =>
        Effect.catchTag(outbox.transaction(effect), "SqlError", Effect.die)

      const alert = Effect.fn("AutoReply.alert")(function* (
        log: AiLog,
        { chat, configured }: Situation,
        why: string,
        texts: ReadonlyArray<string>
      ) {
        const { to } = configured.settings.managerAlerts.value
        if (to === log.chatId) return
        const body = alertText(why, chat.name, texts)
        yield* channel.queue([{ id: yield* nextId, accountId: log.accountId, to, body }])
      })

      const alertOfKeyword = (situation: Situation, answered: Waiting, before: ReadonlyArray<Waiting>) => {
        const alerts = situation.configured.settings.managerAlerts.value
        const texts = [...before, answered].map(({ body }) => body)
        return Option.map(alerts.enabled ? keywordIn(alerts, texts) : Option.none(), (keyword) =>
          alert(answered.log, situation, `“${keyword}”`, texts)
        )
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
        const superseded = skipped.filter(({ reason }) => reason === "superseded").map(({ message }) => message)
        const told = Option.flatMap(answer, (one) => alertOfKeyword(situation, one, superseded))
        if (Option.isSome(answer) && skipped.length === 0 && Option.isNone(told)) {
          yield* writer.begin(answer.value.log)
          return Option.some([answer.value, situation] as const)
        }
        yield* atomically(
          Effect.gen(function* () {
            yield* Effect.forEach(skipped, ({ message, reason }) => skip(message.log, reason), { discard: true })
            const last = Array.last(skipped)
            if (Option.isSome(last)) {
              yield* orOutrun(jobs.end(last.value.message.log, skipped.length, Option.none(), now))
            }
            if (Option.isNone(answer)) return
            yield* begun(answer.value.log)
            if (Option.isSome(told)) yield* told.value
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
        if (text === "") {
          yield* atomically(
            Effect.zipRight(moved({ from: log, changes, event: Option.some("ai.reply.failed") }), end(log))
          )
          return Option.none<Generated>()
        }
        const step = {
          from: log,
          changes,
          event: Option.some("ai.reply.generated" as const),
          goesOnAt: Option.some(dueAt),
          messages: []
        }
        yield* isHandOff
          ? atomically(
              Effect.gen(function* () {
                yield* moved(step)
                yield* alert(log, situation, "A person is asked for", [message.body])
                yield* orOutrun(Effect.map(jobs.goOn([{ log, at: step.goesOnAt }]), ({ size }) => size === 1))
              })
            )
          : writer.goOn(step)
        return Option.some({ log: AiLog.make({ ...log, ...changes }), dueAt })
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
        yield* writer.goOn({
          from: log,
          changes: { replyMessageId: Option.map(Array.head(messages), ({ id }) => id) },
          event: Option.none(),
          goesOnAt: Option.none(),
          messages
        })
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

      const step = Effect.fn("AutoReply.step")(function* (job: ReplyJob, open: ReadonlyArray<AiLog>) {
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
          const { job, open } = yield* work({ accountId, chatId })
          if (Option.isSome(job)) yield* step(job.value, open)
        },
        Effect.catchTag("Outrun", () => Effect.logDebug("another worker answers in this chat"))
      )

      return AutoReply.of({ advance })
    })
  )
}
