import { Array, Clock, Context, DateTime, Duration, Effect, Either, Layer, Option, Random } from "effect"
import { nextId } from "../kit/Id.ts"
import { askModel } from "./AskModel.ts"
import { type ChatAnswer, ChatModel, type ChatModelFailure } from "./ChatModel.ts"
import { AiLog } from "./domain/AiLog.ts"
import { typingTime } from "./domain/Conversation.ts"
import { splitReply } from "./domain/LongReply.ts"
import { Next } from "./domain/Next.ts"
import { spokenReply } from "./domain/SpokenReply.ts"
import { NextSteps, type Question, Step } from "./NextSteps.ts"
import { ReplyChannel } from "./ReplyChannel.ts"
import { ReplyJobRepo } from "./ReplyJobRepo.ts"
import * as ReplyEnds from "./ReplyEnds.ts"
import { type Outrun, ReplyWriter } from "./ReplyWriter.ts"
import type { Waiting } from "./Rules.ts"
import * as TellManager from "./TellManager.ts"

/** A platform forgets that somebody types after some ten seconds. */
const typingShown = Duration.seconds(8)

/** Noted as the reason of a reply that was sent without its unfinished end. */
const cutOff = "truncated"

const atOnce = Effect.map(DateTime.now, (moment) => Next.At({ moment }))

interface Generated {
  readonly log: AiLog
  readonly dueAt: DateTime.Utc
}

/**
 * The auto-reply flow (gateway specification, part 6) for one chat, over its durable job: choose a message, ask, wait,
 * type, hand over to the channel, which looks at the rules again. Every step ends in one transaction that moves reply and job and
 * tells the event, so a crash between any two steps goes on where it was, and nothing is done twice.
 */
export class AutoReply extends Context.Tag("gatehouse/reply/AutoReply")<
  AutoReply,
  {
    /** Takes the chat's replies as far as they go now; returns when the channel or a later moment has the next word. */
    readonly advance: (accountId: string, chatId: string) => Effect.Effect<Next>
  }
>() {
  static readonly layer = Layer.effect(
    AutoReply,
    Effect.gen(function* () {
      const steps = yield* NextSteps
      const jobs = yield* ReplyJobRepo
      const model = yield* ChatModel
      const channel = yield* ReplyChannel
      const writer = yield* ReplyWriter
      const tellManager = yield* TellManager.make
      const { atomically, end, failed, moved, orOutrun } = yield* ReplyEnds.make

      const echo = ({ body }: Waiting): ChatAnswer => ({
        reply: body,
        isCutOff: false,
        model: "echo",
        promptTokens: Option.some(0),
        completionTokens: Option.some(0)
      })

      const answerOf = ({
        message,
        situation: { configured },
        window
      }: Question): Effect.Effect<ChatAnswer, ChatModelFailure> =>
        configured.settings.echoMode.value ? Effect.succeed(echo(message)) : askModel(model, configured, window)

      /** Steps 3 to 5. None when there is nothing to send. */
      const generate = Effect.fnUntraced(function* (question: Question) {
        const { message, situation } = question
        const { log } = message
        const startedAt = yield* Clock.currentTimeMillis
        const answered = yield* Effect.either(answerOf(question))
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
                yield* tellManager(log, situation, "hand_off", "A person is asked for", [message.body])
                yield* orOutrun(Effect.map(jobs.goOn([{ log, at: step.goesOnAt }]), ({ size }) => size === 1))
              })
            )
          : writer.goOn(step)
        return Option.some({ log: AiLog.make({ ...log, ...changes }, true), dueAt })
      })

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

      /** Step 6, second half: the reply is the channel's to send, part by part, which looks at the rules again. */
      const hand = Effect.fnUntraced(function* (log: AiLog) {
        const text = Option.getOrElse(log.reply, () => "")
        const messages = yield* Effect.forEach(splitReply(text, channel.longestText(log.chatId)), (body) =>
          Effect.map(nextId, (id) => ({ id, body }))
        )
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

      const answer = Effect.fnUntraced(function* (question: Question) {
        const generated = yield* generate(question)
        if (Option.isNone(generated)) return yield* atOnce
        const { dueAt, log } = generated.value
        const isDue = DateTime.lessThanOrEqualTo(dueAt, yield* DateTime.now)
        return isDue ? yield* deliver(log) : Next.At({ moment: dueAt })
      })

      const take = Step.$match({
        Rest: ({ next }): Effect.Effect<Next, Outrun> => Effect.succeed(next),
        Ask: ({ question }) => answer(question),
        Deliver: ({ log }) => deliver(log)
      })

      const advance = (accountId: string, chatId: string) =>
        Effect.flatMap(steps.of({ accountId, chatId }), take).pipe(
          Effect.catchTag("Outrun", () =>
            Effect.zipRight(Effect.logDebug("another worker answers in this chat"), atOnce)
          )
        )

      return AutoReply.of({ advance })
    })
  )
}
