import { Array, Clock, Context, DateTime, Duration, Effect, Either, Layer, Option, Random } from "effect"
import { nextId } from "../kit/Id.ts"
import { askModel } from "./AskModel.ts"
import { type ChatAnswer, ChatModel, type ChatModelFailure } from "./ChatModel.ts"
import type { LogMove } from "./AiLogs.ts"
import type { AiLog } from "./domain/AiLog.ts"
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

/**
 * The auto-reply flow (gateway specification, part 6) for one chat, over its durable job: choose a message, ask, wait,
 * hand over to the channel, which looks at the rules again when it has been typed. Every step ends in one transaction that
 * moves reply and job and tells the event, so a crash between any two steps goes on where it was, and nothing is done twice.
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

      /** The reply, part by part, for the channel to send when it has been typed. */
      const handing = Effect.fnUntraced(function* ({ chatId }: AiLog, text: string) {
        const typing = typingTime(text, yield* Random.next)
        const notBefore = DateTime.addDuration(yield* DateTime.now, typing)
        const messages = yield* Effect.forEach(splitReply(text, channel.longestText(chatId)), (body) =>
          Effect.map(nextId, (id) => ({ id, body, notBefore }))
        )
        return { typing, messages, replyMessageId: Option.map(Array.head(messages), ({ id }) => id) }
      })

      /** The other side sees somebody type for as long as a person would. */
      const typed = Effect.fnUntraced(function* ({ accountId, chatId }: AiLog, typing: Duration.Duration) {
        let left = typing
        while (Duration.greaterThan(left, Duration.zero)) {
          yield* channel.typing(accountId, chatId)
          const shown = Duration.min(left, typingShown)
          yield* Effect.sleep(shown)
          left = Duration.subtract(left, shown)
        }
        return Next.Sending()
      })

      /** Step 6 of a reply that was generated before. */
      const deliver = Effect.fnUntraced(function* (log: AiLog) {
        const { messages, replyMessageId, typing } = yield* handing(
          log,
          Option.getOrElse(log.reply, () => "")
        )
        const changes = { replyMessageId }
        yield* writer.goOn({ from: log, changes, event: Option.none(), goesOnAt: Option.none(), messages })
        return yield* typed(log, typing)
      })

      const handOff = ({ message: { body, log }, situation }: Question, step: LogMove, at: DateTime.Utc) =>
        atomically(
          Effect.gen(function* () {
            yield* moved(step)
            yield* tellManager(log, situation, "hand_off", "A person is asked for", [body])
            yield* orOutrun(Effect.map(jobs.goOn([{ log, at: Option.some(at) }]), ({ size }) => size === 1))
          })
        )

      /** Steps 3 to 6, as far as they go without a wait. */
      const answer = Effect.fnUntraced(function* (question: Question) {
        const { log } = question.message
        const startedAt = yield* Clock.currentTimeMillis
        const answered = yield* Effect.either(answerOf(question))
        const endedAt = yield* Clock.currentTimeMillis
        if (Either.isLeft(answered)) {
          const { kind, message: words } = answered.left
          yield* atomically(failed(log, kind, Option.some(words)))
          return yield* atOnce
        }
        const { completionTokens, isCutOff, model: modelName, promptTokens } = answered.right
        const { managerAlerts, replyDelaySeconds } = question.situation.configured.settings
        const { isHandOff, text } = spokenReply(answered.right, managerAlerts.value.enabled)
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
          return yield* atOnce
        }
        const step = { from: log, changes, event: Option.some("ai.reply.generated" as const) }
        if (isHandOff || replyDelaySeconds.value > 0) {
          const moment = DateTime.unsafeMake(endedAt + replyDelaySeconds.value * 1000)
          yield* isHandOff
            ? handOff(question, step, moment)
            : writer.goOn({ ...step, goesOnAt: Option.some(moment), messages: [] })
          return Next.At({ moment })
        }
        const { messages, replyMessageId, typing } = yield* handing(log, text)
        yield* writer.goOn({ ...step, changes: { ...changes, replyMessageId }, goesOnAt: Option.none(), messages })
        return yield* typed(log, typing)
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
