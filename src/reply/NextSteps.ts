import { Array, Context, Data, DateTime, Duration, Effect, Either, Layer, Option } from "effect"
import { together } from "../kit/Together.ts"
import { AiLogRepo } from "./AiLogRepo.ts"
import type { AiLog } from "./domain/AiLog.ts"
import { type WindowMessage, windowSize } from "./domain/Conversation.ts"
import { type Plan, plan, skipReason } from "./domain/Eligibility.ts"
import { keywordIn } from "./domain/ManagerAlert.ts"
import { Next } from "./domain/Next.ts"
import { type ChatKey, ReplyChannel } from "./ReplyChannel.ts"
import * as ReplyEnds from "./ReplyEnds.ts"
import { ReplyJobRepo } from "./ReplyJobRepo.ts"
import type { Outrun } from "./ReplyWriter.ts"
import * as TellManager from "./TellManager.ts"
import { type Judged, Rules, type Situation, type Waiting } from "./Rules.ts"

/** A message that the provider is to be asked about, with the conversation up to it, oldest first. */
export interface Question extends Judged {
  readonly window: ReadonlyArray<WindowMessage>
}

/** What is to be done about the replies of a chat: nothing for now, ask for one, or hand over one that was generated. */
export type Step = Data.TaggedEnum<{
  Rest: { readonly next: Next }
  Ask: { readonly question: Question }
  Deliver: { readonly log: AiLog }
}>
export const Step = Data.taggedEnum<Step>()

type Head = Effect.Effect.Success<ReturnType<typeof ReplyJobRepo.Service.heads>>[number]

/** A message to be answered, or how its chat goes on without. */
type Outcome = Either.Either<Judged, Next>

/** What the manager is told of, with the message to be answered and those that it stands for. */
interface Keyword {
  readonly log: AiLog
  readonly word: string
  readonly texts: ReadonlyArray<string>
}

type Verdict = Data.TaggedEnum<{
  Rest: { readonly next: Next }
  /** One that is not the chat's reply yet has to become it. */
  Answer: { readonly judged: Judged; readonly isBegun: boolean }
  /** Something is to be written for this chat alone. */
  Change: { readonly change: Effect.Effect<Outcome> }
}>
const Verdict = Data.taggedEnum<Verdict>()

/** Chats whose next steps are found by one run. */
const foundAtOnce = 128
/** A run waits so long for others while there are several: nobody notices it beside the time that typing takes. */
const gathering = Duration.millis(50)
/** Changes of single chats that are written at a time. */
const changesAtOnce = 8

const keyOf = ({ accountId, chatId }: ChatKey) => `${accountId} ${chatId}`

/** Where a chat stands as far as its job says; else the rules have to say. */
const standing = (head: Head, now: DateTime.Utc): Either.Either<Step, Head> => {
  const { dueAt, isCurrent, log } = head
  if (Option.isNone(dueAt)) return Either.right(Step.Rest({ next: Next.Idle() }))
  if (DateTime.greaterThan(dueAt.value, now)) return Either.right(Step.Rest({ next: Next.At({ moment: dueAt.value }) }))
  if (!isCurrent || log.status === "pending") return Either.left(head)
  return Either.right(Option.isSome(log.replyMessageId) ? Step.Rest({ next: Next.Sending() }) : Step.Deliver({ log }))
}

const keywordFor = (situation: Situation, { answer, skipped }: Plan<Waiting>): Option.Option<Keyword> => {
  const alerts = situation.configured.settings.managerAlerts.value
  if (!alerts.enabled) return Option.none()
  const superseded = skipped.filter(({ reason }) => reason === "superseded").map(({ message }) => message)
  return Option.flatMap(answer, (one) => {
    const texts = [...superseded, one].map(({ body }) => body)
    return Option.map(keywordIn(alerts, texts), (word) => ({ log: one.log, word, texts }))
  })
}

/** The other messages that wait in the chat do not matter. */
const isAlone = ({ isCurrent }: Head, { message, situation }: Judged) =>
  isCurrent ||
  (situation.configured.settings.debounceSeconds.value === 0 && Option.isNone(skipReason(situation.rules, message)))

/**
 * The first two steps of the auto-reply flow (gateway specification, part 6), for many chats at once: which message is
 * answered, what is skipped, and what the provider is to be asked.
 */
export class NextSteps extends Context.Tag("gatehouse/reply/NextSteps")<
  NextSteps,
  { readonly of: (chat: ChatKey) => Effect.Effect<Step> }
>() {
  static readonly layer = Layer.scoped(
    NextSteps,
    Effect.gen(function* () {
      const repo = yield* AiLogRepo
      const jobs = yield* ReplyJobRepo
      const rules = yield* Rules
      const channel = yield* ReplyChannel
      const tellManager = yield* TellManager.make
      const { atomically, begun, end, orOutrun, skip } = yield* ReplyEnds.make

      const again = Effect.map(DateTime.now, (moment) => Either.left(Next.At({ moment })))

      const changing = (steps: Effect.Effect<Outcome, Outrun>) =>
        Verdict.Change({
          change: atomically(steps).pipe(
            Effect.catchTag("Outrun", () =>
              Effect.zipRight(Effect.logDebug("another worker answers in this chat"), again)
            )
          )
        })

      const planned = Effect.fnUntraced(function* (
        judged: Judged,
        { answer, skipped }: Plan<Waiting>,
        keyword: Option.Option<Keyword>
      ) {
        yield* Effect.forEach(skipped, ({ message, reason }) => skip(message.log, reason), { discard: true })
        const last = Array.last(skipped)
        if (Option.isSome(last)) {
          yield* orOutrun(jobs.end(last.value.message.log, skipped.length, Option.none(), yield* DateTime.now))
        }
        if (Option.isNone(answer)) return yield* again
        yield* begun(answer.value.log)
        if (Option.isSome(keyword)) {
          const { log, texts, word } = keyword.value
          yield* tellManager(log, judged.situation, "keyword", `“${word}”`, texts)
        }
        return Either.right({ ...judged, message: answer.value })
      })

      const verdictOf = ({ isCurrent, log }: Head, judged: Judged, waiting: ReadonlyArray<Waiting>): Verdict => {
        const { rules: chat } = judged.situation
        if (isCurrent) {
          return Option.match(skipReason(chat, judged.message), {
            onNone: () => Verdict.Answer({ judged, isBegun: true }),
            onSome: (reason) => changing(Effect.zipRight(Effect.zipRight(skip(log, reason), end(log)), again))
          })
        }
        if (!Array.isNonEmptyReadonlyArray(waiting)) return Verdict.Rest({ next: Next.Idle() })
        const chosen = plan(chat, waiting)
        if (Option.isSome(chosen.waitUntil)) {
          const next = Next.At({ moment: chosen.waitUntil.value })
          return Verdict.Change({ change: Effect.as(jobs.wait(log, next.moment), Either.left(next)) })
        }
        const keyword = keywordFor(judged.situation, chosen)
        return Option.isSome(chosen.answer) && chosen.skipped.length === 0 && Option.isNone(keyword)
          ? Verdict.Answer({ judged: { ...judged, message: chosen.answer.value }, isBegun: false })
          : changing(planned(judged, chosen, keyword))
      }

      const verdictsOf = Effect.fnUntraced(function* (heads: ReadonlyArray<Head>) {
        const judged = yield* rules.of(heads.map(({ log }) => log))
        const both = Array.zip(heads, judged)
        const crowded = both.filter(([head, one]) => !isAlone(head, one)).map(([{ log }]) => log)
        const waiting = crowded.length === 0 ? [] : yield* rules.waiting(yield* repo.open(crowded))
        const ofChats = Array.groupBy(waiting, ({ log }) => keyOf(log))
        return both.map(([head, one]) =>
          verdictOf(head, one, isAlone(head, one) ? [one.message] : (ofChats[keyOf(head.log)] ?? []))
        )
      })

      const outcomesOf = Effect.fnUntraced(function* (verdicts: ReadonlyArray<Verdict>) {
        const answers = verdicts.filter(Verdict.$is("Answer"))
        const beginning = answers.filter(({ isBegun }) => !isBegun).map(({ judged }) => judged.message.log)
        const begun = beginning.length === 0 ? new Set<string>() : yield* jobs.begin(beginning)
        const changes = verdicts.filter(Verdict.$is("Change"))
        const changed = yield* Effect.forEach(changes, ({ change }) => change, { concurrency: changesAtOnce })
        const outcomes = new Map<Verdict, Outcome>(Array.zip(changes, changed))
        const outrun = yield* again
        return verdicts.map(
          Verdict.$match({
            Rest: ({ next }): Outcome => Either.left(next),
            Answer: ({ isBegun, judged }) =>
              isBegun || begun.has(judged.message.log.id) ? Either.right(judged) : outrun,
            Change: (change) => outcomes.get(change) ?? outrun
          })
        )
      })

      const windowsOf = Effect.fnUntraced(function* (judged: ReadonlyArray<Judged>) {
        const asked = judged.filter(({ situation }) => !situation.configured.settings.echoMode.value)
        if (asked.length === 0) return new Map<Judged, ReadonlyArray<WindowMessage>>()
        const windows = yield* channel.windows(
          asked.map(
            ({
              message: {
                log: { accountId, chatId, messageId }
              }
            }) => ({ accountId, chatId, upTo: Option.some(messageId), limit: windowSize })
          )
        )
        return new Map(Array.zip(asked, windows))
      })

      /** What the rules have to say something about. */
      const stepsOf = Effect.fnUntraced(function* (heads: ReadonlyArray<Head>) {
        const outcomes = yield* outcomesOf(yield* verdictsOf(heads))
        const windows = yield* windowsOf(Array.getRights(outcomes))
        return outcomes.map(
          Either.match({
            onLeft: (next) => Step.Rest({ next }),
            onRight: (judged) => Step.Ask({ question: { ...judged, window: windows.get(judged) ?? [] } })
          })
        )
      })

      const find = Effect.fn("NextSteps.find")(function* (chats: ReadonlyArray<ChatKey>) {
        const now = yield* DateTime.now
        const heads = yield* jobs.heads(chats)
        const [open, known] = Array.partitionMap(heads, (head) =>
          Either.map(standing(head, now), (step) => [keyOf(head.log), step] as const)
        )
        const judged = open.length === 0 ? [] : yield* stepsOf(open)
        const steps = new Map([
          ...known,
          ...Array.zipWith(open, judged, ({ log }, step) => [keyOf(log), step] as const)
        ])
        return chats.map((chat) => steps.get(keyOf(chat)) ?? Step.Rest({ next: Next.Idle() }))
      })

      return NextSteps.of({ of: yield* together(foundAtOnce, find, gathering) })
    })
  )
}
