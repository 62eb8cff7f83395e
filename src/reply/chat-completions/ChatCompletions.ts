import { HttpClient, HttpClientRequest, type HttpClientResponse } from "@effect/platform"
import { Chunk, DateTime, Duration, Effect, Either, Layer, Option, Redacted, Schema, Stream } from "effect"
import { type ChatAnswer, ChatModel, ChatModelFailure, type ChatRequest } from "../ChatModel.ts"
import { endpointOf, type NoReply, readCompletion, readFailure, storable } from "./Completion.ts"
import { providerErrorIn } from "./ProviderError.ts"
import { bodyOf, learn, noQuirks, type Quirks } from "./Quirks.ts"

const bodyLimit = 1024 * 1024
const longestMessage = 300
const quirksKept = 256
/** Calls of one provider at a time: one that hangs holds up its own callers only. */
const callsAtOnce = 32

interface Received {
  readonly status: number
  readonly text: string
  readonly isWhole: boolean
  readonly retryAfter: string | undefined
}

const parse = Schema.decodeOption(Schema.parseJson(Schema.Unknown))

const quirksKey = ({ baseUrl, model }: ChatRequest) => `${endpointOf(baseUrl)} ${model}`

const tooLong: NoReply = { kind: "invalid_response", message: "the provider's answer is longer than 1 MiB" }

const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT$/

/** `Retry-After` in either of its forms; a date that is over means now. */
const waitOf = (header: string | undefined, now: DateTime.Utc): Option.Option<Duration.Duration> => {
  const text = (header ?? "").trim()
  if (/^\d+(\.\d+)?$/.test(text)) return Option.some(Duration.seconds(Number(text)))
  return Option.map(httpDate.test(text) ? DateTime.make(Date.parse(text)) : Option.none(), (moment) =>
    Duration.millis(Math.max(0, DateTime.distance(now, moment)))
  )
}

/** Reads up to the limit and drops the connection there. */
const received = (response: HttpClientResponse.HttpClientResponse) =>
  response.stream.pipe(
    Stream.mapAccum(0, (before, bytes) => [before + bytes.length, { bytes, size: before + bytes.length }] as const),
    Stream.takeUntil(({ size }) => size > bodyLimit),
    Stream.runCollect,
    Effect.map((chunks): Received => {
      const whole = Buffer.concat(Chunk.toReadonlyArray(chunks).map(({ bytes }) => bytes))
      return {
        status: response.status,
        text: whole.toString("utf8", 0, bodyLimit),
        isWhole: whole.length <= bodyLimit,
        retryAfter: response.headers["retry-after"]
      }
    })
  )

/** The words of a provider may quote what it was sent: the key is taken out before anything is cut off. */
const wordsOf = (message: string, apiKey: Redacted.Redacted<string>): string => {
  const key = Redacted.value(apiKey)
  const scrubbed = key === "" ? message : message.replaceAll(key, "***")
  return storable(scrubbed.replace(/\s+/g, " ").trim().slice(0, longestMessage))
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
 * in the form that it takes, and remembered by base URL and model.
 */
export const layer = Layer.effect(
  ChatModel,
  Effect.map(HttpClient.HttpClient, (client) => {
    const quirksBy = new Map<string, Quirks>()
    const lanesBy = new Map<string, Effect.Semaphore>()

    const laneOf = (endpoint: string): Effect.Semaphore => {
      const known = lanesBy.get(endpoint)
      if (known !== undefined) return known
      const lane = Effect.unsafeMakeSemaphore(callsAtOnce)
      lanesBy.set(endpoint, lane)
      return lane
    }

    const remember = (key: string, quirks: Quirks) => {
      quirksBy.set(key, quirks)
      const oldest = quirksBy.keys().next()
      if (quirksBy.size > quirksKept && oldest.done !== true) quirksBy.delete(oldest.value)
    }

    const post = (request: ChatRequest, quirks: Quirks) =>
      HttpClientRequest.post(endpointOf(request.baseUrl)).pipe(
        HttpClientRequest.bearerToken(request.apiKey),
        HttpClientRequest.acceptJson,
        HttpClientRequest.bodyUnsafeJson(bodyOf(request, quirks)),
        client.execute,
        Effect.flatMap(received),
        Effect.catchTags({
          RequestError: ({ reason }) =>
            reason === "InvalidUrl"
              ? failure(request, { kind: "bad_request", message: "the base URL is none" })
              : failure(request, { kind: "network", message: "the provider cannot be reached" }),
          ResponseError: () => failure(request, { kind: "network", message: "the provider's answer broke off" })
        })
      )

    const ask = (request: ChatRequest, quirks: Quirks): Effect.Effect<Received, ChatModelFailure> =>
      Effect.flatMap(post(request, quirks), (answer) => {
        if (answer.status !== 400) {
          if (quirks !== noQuirks) remember(quirksKey(request), quirks)
          return Effect.succeed(answer)
        }
        const better = Option.flatMap(parse(answer.text), providerErrorIn).pipe(
          Option.flatMap((error) => learn(request, quirks, error))
        )
        return Option.match(better, {
          onNone: () => Effect.succeed(answer),
          onSome: (learnt) => ask(request, learnt)
        })
      })

    const read = Effect.fnUntraced(function* (request: ChatRequest, { isWhole, retryAfter, status, text }: Received) {
      if (status < 200 || status > 299) {
        const wait = waitOf(retryAfter, yield* DateTime.now)
        return yield* failure(request, readFailure(status, text), { status, retryAfter: wait })
      }
      const completion: Either.Either<ChatAnswer, NoReply> = isWhole
        ? readCompletion(text, request.model)
        : Either.left(tooLong)
      return yield* Either.mapLeft(completion, (reason) => failure(request, reason, { status }))
    })

    const complete = Effect.fn("ChatCompletions.complete")(function* (request: ChatRequest) {
      return yield* ask(request, quirksBy.get(quirksKey(request)) ?? noQuirks).pipe(
        Effect.withTracerEnabled(false),
        Effect.timeoutFail({
          duration: request.timeout,
          onTimeout: () => failure(request, { kind: "timeout", message: "the provider did not answer in time" })
        }),
        laneOf(endpointOf(request.baseUrl)).withPermits(1),
        Effect.flatMap((answer) => read(request, answer))
      )
    })

    return ChatModel.of({ complete })
  })
)
