import { Clock, DateTime, Duration, Effect, Either, Layer, Option, Redacted, Schema } from "effect"
import { type Incoming, makeHttpExchange, type Unanswered } from "../../kit/HttpExchange.ts"
import { beginning, storableText } from "../../platform/domain/StorableText.ts"
import { type ChatAnswer, ChatModel, ChatModelFailure, type ChatRequest } from "../ChatModel.ts"
import { endpointOf, type NoReply, readCompletion, readFailure } from "./Completion.ts"
import { Lane } from "./Lane.ts"
import { providerErrorIn } from "./ProviderError.ts"
import { bodyOf, isSameForm, learn, mayRefuse, noQuirks, type Quirks } from "./Quirks.ts"

const longestMessage = 300
/** Of an answer no more is read than this, in bytes; the connection is dropped there. */
const longestAnswer = 1024 * 1024
const quirksKept = 256

const Json = Schema.parseJson(Schema.Unknown)
const parse = Schema.decodeOption(Json)
const encodeBody = Schema.encodeSync(Json)

const quirksKey = ({ baseUrl, model }: ChatRequest) => `${endpointOf(baseUrl)} ${model}`

const tooLong: NoReply = { kind: "invalid_response", message: "the provider's answer is longer than 1 MiB" }

const noUrl: NoReply = { kind: "bad_request", message: "the base URL is none" }

const unanswered: { readonly [why in Unanswered]: NoReply } = {
  unreachable: { kind: "network", message: "the provider cannot be reached" },
  "broken off": { kind: "network", message: "the provider's answer broke off" },
  "too late": { kind: "timeout", message: "the provider did not answer in time" }
}

const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT$/

/** `Retry-After` in either of its forms; a date that is over means now. */
const waitOf = (header: string | undefined, now: DateTime.Utc): Option.Option<Duration.Duration> => {
  const text = (header ?? "").trim()
  if (/^\d+(\.\d+)?$/.test(text)) return Option.some(Duration.seconds(Number(text)))
  return Option.map(httpDate.test(text) ? DateTime.make(Date.parse(text)) : Option.none(), (moment) =>
    Duration.millis(Math.max(0, DateTime.distance(now, moment)))
  )
}

/** The words of a provider may quote what it was sent: the key is taken out before anything is cut off. */
const wordsOf = (message: string, apiKey: Redacted.Redacted<string>): string => {
  const key = Redacted.value(apiKey)
  const scrubbed = key === "" ? message : message.replaceAll(key, "***")
  return beginning(storableText(scrubbed.replace(/\s+/g, " ").trim()), longestMessage)
}

const failure = (
  request: ChatRequest,
  { kind, message }: NoReply,
  answer: { readonly status?: number; readonly retryAfter?: Option.Option<Duration.Duration> } = {}
) =>
  new ChatModelFailure({
    kind,
    message: wordsOf(message, request.apiKey),
    status: Option.fromNullable(answer.status),
    retryAfter: answer.retryAfter ?? Option.none()
  })

/**
 * A provider that takes the `/chat/completions` request shape, as OpenAI defined it and many others accept it. One call
 * of the port is one request, save that a model's refusal of `max_tokens` or `temperature` is answered by asking at once
 * in the form that it takes, and remembered by base URL and model. So many calls of one provider are under way at once:
 * one that hangs holds up its own callers only.
 */
export const layer = ({ callsAtOnce }: { readonly callsAtOnce: number }) =>
  Layer.scoped(
    ChatModel,
    Effect.map(makeHttpExchange(longestAnswer), (exchange) => {
      const quirksBy = new Map<string, Quirks>()
      const lanesBy = new Map<string, Lane>()

      const laneOf = (endpoint: string): Lane => {
        const known = lanesBy.get(endpoint)
        if (known !== undefined) return known
        const lane = new Lane(callsAtOnce)
        lanesBy.set(endpoint, lane)
        return lane
      }

      const remember = (key: string, quirks: Quirks) => {
        quirksBy.set(key, quirks)
        const oldest = quirksBy.keys().next()
        if (quirksBy.size > quirksKept && oldest.done !== true) quirksBy.delete(oldest.value)
      }

      const post = (request: ChatRequest, quirks: Quirks, timeout: Duration.Duration) => {
        const endpoint = endpointOf(request.baseUrl)
        const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined
        if (url === undefined || !/^https?:$/.test(url.protocol)) return Effect.fail(failure(request, noUrl))
        const headers = {
          accept: "application/json",
          "content-type": "application/json",
          authorization: `Bearer ${Redacted.value(request.apiKey)}`
        }
        const body = encodeBody(bodyOf(request, quirks))
        const path = `${url.pathname}${url.search}`
        return Effect.mapError(exchange({ origin: url.origin, path, method: "POST", headers, body, timeout }), (why) =>
          failure(request, unanswered[why])
        )
      }

      /** In no form twice: a model may take none of them. */
      const ask = (
        request: ChatRequest,
        quirks: Quirks,
        endsAt: number,
        refused: ReadonlyArray<Quirks> = []
      ): Effect.Effect<Incoming, ChatModelFailure> =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          Effect.flatMap(post(request, quirks, Duration.millis(endsAt - now)), (answer) => {
            if (!mayRefuse(answer.status)) {
              if (quirks !== noQuirks) remember(quirksKey(request), quirks)
              return Effect.succeed(answer)
            }
            const better = Option.flatMap(parse(answer.text), providerErrorIn).pipe(
              Option.flatMap((error) => learn(request, quirks, error)),
              Option.filter((learnt) => !refused.some((form) => isSameForm(form, learnt)))
            )
            return Option.match(better, {
              onNone: () => Effect.succeed(answer),
              onSome: (learnt) => ask(request, learnt, endsAt, [...refused, quirks])
            })
          })
        )

      const read = Effect.fnUntraced(function* (request: ChatRequest, { headers, isWhole, status, text }: Incoming) {
        if (status < 200 || status > 299) {
          const wait = waitOf(headers["retry-after"], yield* DateTime.now)
          return yield* failure(request, readFailure(status, text), { status, retryAfter: wait })
        }
        const completion: Either.Either<ChatAnswer, NoReply> = isWhole
          ? readCompletion(text, request.model)
          : Either.left(tooLong)
        return yield* Either.mapLeft(completion, (reason) => failure(request, reason, { status }))
      })

      const asked = (request: ChatRequest, givenUpAt: number) =>
        Effect.flatMap(Clock.currentTimeMillis, (now): Effect.Effect<Incoming, ChatModelFailure | "too late"> => {
          if (givenUpAt <= now) return Effect.fail("too late")
          const endsAt = Math.min(givenUpAt, now + Duration.toMillis(request.timeout))
          return ask(request, quirksBy.get(quirksKey(request)) ?? noQuirks, endsAt)
        })

      const inTurn = (request: ChatRequest) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          laneOf(endpointOf(request.baseUrl)).through(
            asked(request, now + Duration.toMillis(request.patience)),
            request.patience
          )
        )

      const complete = (request: ChatRequest) =>
        inTurn(request).pipe(
          Effect.mapError((why) => (why === "too late" ? failure(request, unanswered[why]) : why)),
          Effect.flatMap((answer) => read(request, answer)),
          Effect.withSpan("ChatCompletions.complete")
        )

      return ChatModel.of({ complete })
    })
  )
