import { Array, Clock, Context, DateTime, Duration, Effect, Either, Layer, Option, Random } from "effect"
import { nextId } from "../kit/Id.ts"
import { together } from "../kit/Together.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { AiLogRepo } from "./AiLogRepo.ts"
import { askModel } from "./AskModel.ts"
import { type ChatAnswer, ChatModel, type ChatModelFailure } from "./ChatModel.ts"
import { AiLog } from "./domain/AiLog.ts"
import { typingTime, windowSize } from "./domain/Conversation.ts"
import { plan, skipReason, type SkipReason } from "./domain/Eligibility.ts"
import { splitReply } from "./domain/LongReply.ts"
import { keywordIn } from "./domain/ManagerAlert.ts"
import { Next } from "./domain/Next.ts"
import { spokenReply } from "./domain/SpokenReply.ts"
import { type ChatKey, ReplyChannel } from "./ReplyChannel.ts"
import { ReplyJobRepo } from "./ReplyJobRepo.ts"
import * as ReplyEnds from "./ReplyEnds.ts"
import { type Outrun, ReplyWriter } from "./ReplyWriter.ts"
import { Rules, type Situation, type Waiting } from "./Rules.ts"
import * as TellManager from "./TellManager.ts"

/** A platform forgets that somebody types after some ten seconds. */
const typingShown = Duration.seconds(8)

/** Noted as the reason of a reply that was sent without its unfinished end. */
const cutOff = "truncated"

/** Chats whose jobs are read by one statement. */
const readAtOnce = 128

const keyOf = ({ accountId, chatId }: ChatKey) => `${accountId} ${chatId}`

const atOnce = Effect.map(DateTime.now, (moment) => Next.At({ moment }))

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
    readonly advance: (accountId: string, chatId: string) => Effect.Effect<Next>
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
      const alert = yield* TellManager.make
      const outbox = yield* Outbox

      /** Where the chat stands. */
      const headOf = yield* together(readAtOnce, (keys: ReadonlyArray<ChatKey>) =>
        Effect.map(jobs.heads(keys), (heads) => {
          const byChat = new Map(heads.map((head) => [keyOf(head.log), head]))
          return keys.map((key) => Option.fromNullable(byChat.get(keyOf(key))))
        })
      )
      const openOf = yield* together(readAtOnce, (keys: ReadonlyArray<ChatKey>) =>
        Effect.map(repo.open(keys), (open) => {
          const ofChats = Array.groupBy(open, keyOf)
          return keys.map((key) => ofChats[keyOf(key)] ?? [])
        })
      )

      const atomically = <A>(effect: Effect.Effect<A, Outrun>) =>
        Effect.catchTag(outbox.transaction(effect), "SqlError", Effect.die)

      const alertOfKeyword = (situation: Situation, answered: Waiting, before: ReadonlyArray<Waiting>) => {
        const alerts = situation.configured.settings.managerAlerts.value
        const texts = [...before, answered].map(({ body }) => body)
        return Option.map(alerts.enabled ? keywordIn(alerts, texts) : Option.none(), (keyword) =>
          alert(answered.log, situation, "keyword", `“${keyword}”`, texts)
        )
      }

      /**
       * Step 2: what is not answered is skipped, and what is becomes the one reply of the chat. Else when to look again.
       * The other messages of the chat are read only where they matter.
       */
      const choose = Effect.fnUntraced(function* (
        first: AiLog
      ): Effect.fn.Return<Either.Either<readonly [Waiting, Situation], Next>, Outrun> {
        const now = yield* DateTime.now
        const { message, situation } = yield* rules.of(first)
        const isAlone =
          situation.configured.settings.debounceSeconds.value === 0 &&
          Option.isNone(skipReason(situation.rules, message))
        const waiting = isAlone ? [message] : yield* rules.waiting(yield* openOf(first))
        if (!Array.isNonEmptyReadonlyArray(waiting)) return Either.left(Next.Idle())
        const { answer, skipped, waitUntil } = plan(situation.rules, waiting)
        if (Option.isSome(waitUntil)) {
          yield* jobs.wait(first, waitUntil.value)
          return Either.left(Next.At({ moment: waitUntil.value }))
        }
        const superseded = skipped.filter(({ reason }) => reason === "superseded").map(({ message }) => message)
        const told = Option.flatMap(answer, (one) => alertOfKeyword(situation, one, superseded))
        if (Option.isSome(answer) && skipped.length === 0 && Option.isNone(told)) {
          yield* writer.begin(answer.value.log)
          return Either.right([answer.value, situation] as const)
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
        return Option.match(answer, {
          onNone: () => Either.left(Next.At({ moment: now })),
          onSome: (one) => Either.right([one, situation] as const)
        })
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
      const generate = Effect.fnUntraced(function* (message: Waiting, situation: Situation) {
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
                yield* alert(log, situation, "hand_off", "A person is asked for", [message.body])
                yield* orOutrun(Effect.map(jobs.goOn([{ log, at: step.goesOnAt }]), ({ size }) => size === 1))
              })
            )
          : writer.goOn(step)
        return Option.some({ log: AiLog.make({ ...log, ...changes }, true), dueAt })
      })

      const skipped = (log: AiLog, reason: SkipReason) =>
        Effect.zipRight(atomically(Effect.zipRight(skip(log, reason), end(log))), atOnce)

      /** Step 6, first half: the other side sees somebody type for as long as a person would. */
      const type = Effect.fnUntraced(function* ({ accountId, chatId, reply }: AiLog) {
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
      const hand = Effect.fnUntraced(function* (log: AiLog) {
        const { message, situation } = yield* rules.of(log)
        const reason = skipReason(situation.rules, message)
        if (Option.isSome(reason)) {
          yield* channel.typing(log.accountId, log.chatId, false)
          return yield* skipped(log, reason.value)
        }
        const parts = splitReply(
          Option.getOrElse(log.reply, () => ""),
          situation.chat.longestText
        )
        const messages = yield* Effect.forEach(parts, (body) => Effect.map(nextId, (id) => ({ id, body })))
        yield* writer.goOn({
          from: log,
          changes: { replyMessageId: Option.map(Array.head(messages), ({ id }) => id) },
          event: Option.none(),
          goesOnAt: Option.none(),
          messages
        })
        return Next.Sending()
      })

      const deliver = (log: AiLog) => Effect.zipRight(type(log), hand(log))

      const answer = Effect.fnUntraced(function* (message: Waiting, situation: Situation) {
        const generated = yield* generate(message, situation)
        if (Option.isNone(generated)) return yield* atOnce
        const { dueAt, log } = generated.value
        const isDue = DateTime.lessThanOrEqualTo(dueAt, yield* DateTime.now)
        return isDue ? yield* deliver(log) : Next.At({ moment: dueAt })
      })

      /** A message whose answer a crash cut short is judged and asked about anew. */
      const resume = Effect.fnUntraced(function* (log: AiLog) {
        const { message, situation } = yield* rules.of(log)
        const reason = skipReason(situation.rules, message)
        return yield* Option.isNone(reason) ? answer(message, situation) : skipped(log, reason.value)
      })

      const step = Effect.fnUntraced(function* (log: AiLog, isCurrent: boolean) {
        if (!isCurrent) {
          const chosen = yield* choose(log)
          return Either.isLeft(chosen) ? chosen.left : yield* answer(...chosen.right)
        }
        if (log.status === "pending") return yield* resume(log)
        return Option.isSome(log.replyMessageId) ? Next.Sending() : yield* deliver(log)
      })

      const advance = Effect.fnUntraced(
        function* (accountId: string, chatId: string) {
          const head = yield* headOf({ accountId, chatId })
          if (Option.isNone(head)) return Next.Idle()
          const { dueAt, isCurrent, log } = head.value
          if (Option.isNone(dueAt)) return Next.Idle()
          if (DateTime.greaterThan(dueAt.value, yield* DateTime.now)) return Next.At({ moment: dueAt.value })
          return yield* step(log, isCurrent)
        },
        Effect.catchTag("Outrun", () => Effect.zipRight(Effect.logDebug("another worker answers in this chat"), atOnce))
      )

      return AutoReply.of({ advance })
    })
  )
}
