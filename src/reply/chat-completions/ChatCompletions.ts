import { HttpClient, HttpClientRequest, type HttpClientResponse } from "@effect/platform"
import { Chunk, DateTime, Duration, Effect, Either, Layer, Option, Redacted, Stream } from "effect"
import { type ChatAnswer, ChatModel, ChatModelFailure, type ChatRequest } from "../ChatModel.ts"
import { endpointOf, errorMessage, kindOf, providerError, readCompletion } from "./Completion.ts"

const bodyLimit = 1024 * 1024
const quirksKept = 256

/** What a provider's model turned out to refuse; learnt once. */
interface Quirks {
  readonly completionTokens: boolean
  readonly withoutTemperature: boolean
}

const none: Quirks = { completionTokens: false, withoutTemperature: false }

const bodyOf = (request: ChatRequest, quirks: Quirks) => ({
  model: request.model,
  messages: request.turns,
  ...(quirks.withoutTemperature
    ? {}
    : Option.match(request.temperature, { onNone: () => ({}), onSome: (temperature) => ({ temperature }) })),
  ...Option.match(request.maxTokens, {
    onNone: () => ({}),
    onSome: (limit) => (quirks.completionTokens ? { max_completion_tokens: limit } : { max_tokens: limit })
  })
})

/** The quirk that a 400 tells of; none when it tells of none that is new. */
const learnt = (text: string, known: Quirks): Option.Option<Quirks> => {
  const error = providerError(text)
  const speaksOf = (field: string) =>
    Option.exists(error, ({ message, param }) => Option.contains(param, field) || message.includes(`'${field}'`))
  if (!known.completionTokens && speaksOf("max_tokens")) return Option.some({ ...known, completionTokens: true })
  if (!known.withoutTemperature && speaksOf("temperature")) return Option.some({ ...known, withoutTemperature: true })
  return Option.none()
}

const waitOf = (header: string | undefined, now: DateTime.Utc): Option.Option<Duration.Duration> =>
  Option.flatMap(Option.fromNullable(header), (text) =>
    /^\d+(\.\d+)?$/.test(text.trim())
      ? Option.some(Duration.seconds(Number(text)))
      : Option.map(DateTime.make(new Date(text)), (moment) => DateTime.distanceDuration(now, moment))
  )

/** At most the limit of a body, as text. */
const limitedText = (response: HttpClientResponse.HttpClientResponse) =>
  response.stream.pipe(
    Stream.mapAccum(0, (size, bytes) => [size + bytes.length, { size: size + bytes.length, bytes }] as const),
    Stream.takeUntil(({ size }) => size > bodyLimit),
    Stream.runCollect,
    Effect.map((chunks) => Buffer.concat(Chunk.toReadonlyArray(chunks).map(({ bytes }) => bytes)).toString("utf8"))
  )

/** A provider that takes the `/chat/completions` request shape, as OpenAI defined it and many others accept it. */
export const layer = Layer.effect(
  ChatModel,
  Effect.map(HttpClient.HttpClient, (client) => {
    const quirksBy = new Map<string, Quirks>()

    const remember = (key: string, quirks: Quirks) => {
      const oldest = quirksBy.keys().next()
      if (quirksBy.size >= quirksKept && oldest.done !== true) quirksBy.delete(oldest.value)
      quirksBy.set(key, quirks)
    }

    const fail = (
      input: Partial<ChatModelFailure> & { readonly kind: ChatModelFailure["kind"]; readonly message: string },
      key: ChatRequest["apiKey"]
    ) =>
      new ChatModelFailure({
        kind: input.kind,
        message: input.message.replaceAll(Redacted.value(key), "***"),
        status: input.status ?? Option.none(),
        retryAfter: input.retryAfter ?? Option.none()
      })

    const ask = (request: ChatRequest, quirks: Quirks): Effect.Effect<ChatAnswer, ChatModelFailure> =>
      Effect.gen(function* () {
        const post = HttpClientRequest.post(endpointOf(request.baseUrl)).pipe(
          HttpClientRequest.bearerToken(request.apiKey),
          HttpClientRequest.bodyUnsafeJson(bodyOf(request, quirks))
        )
        const response = yield* client.execute(post)
        const text = yield* limitedText(response)
        const { headers, status } = response
        if (status >= 200 && status < 300) {
          return yield* Either.mapLeft(readCompletion(text, request.model), (reason) =>
            fail({ ...reason, status: Option.some(status) }, request.apiKey)
          )
        }
        const better = status === 400 ? learnt(text, quirks) : Option.none()
        if (Option.isSome(better)) {
          remember(`${request.baseUrl} ${request.model}`, better.value)
          return yield* ask(request, better.value)
        }
        const hint = status === 404 ? " (does the base end as the provider wants, often in /v1?)" : ""
        const retryAfter = waitOf(headers["retry-after"], yield* DateTime.now)
        const message = `${errorMessage(text)}${hint}`
        return yield* fail({ kind: kindOf(status), message, status: Option.some(status), retryAfter }, request.apiKey)
      }).pipe(
        Effect.catchTags({
          RequestError: () => fail({ kind: "network", message: "the provider cannot be reached" }, request.apiKey),
          ResponseError: () => fail({ kind: "network", message: "the provider's answer broke off" }, request.apiKey)
        })
      )

    const complete = Effect.fn("ChatCompletions.complete")((request: ChatRequest) =>
      ask(request, quirksBy.get(`${request.baseUrl} ${request.model}`) ?? none).pipe(
        Effect.timeoutFail({
          duration: request.timeout,
          onTimeout: () => fail({ kind: "timeout", message: "the provider did not answer in time" }, request.apiKey)
        }),
        Effect.withTracerEnabled(false)
      )
    )

    return ChatModel.of({ complete })
  })
)
