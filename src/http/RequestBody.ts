import { HttpServerError, HttpServerRequest } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Effect, Option } from "effect"

const limit = 1024 * 1024

/** Why a body is refused before anything reads it (contract, part 2: 413 and 415). */
export type BodyRefusal = "too_large" | "not_json"

const carriesBody = ({ method }: HttpServerRequest.HttpServerRequest) =>
  method === "POST" || method === "PUT" || method === "PATCH" || method === "DELETE"

const isJson = (contentType: string) => /^application\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType)

/** Reads at most the limit and leaves the rest unread, so that the answer still reaches a caller who sends for ever. */
const readChunks = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.async<Option.Option<string>>((resume) => {
    const source = NodeHttpServerRequest.toIncomingMessage(request)
    const chunks: Array<Buffer> = []
    let size = 0
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size <= limit) {
        chunks.push(chunk)
        return
      }
      source.off("data", onData)
      source.pause()
      resume(Effect.succeedNone)
    }
    source.on("data", onData)
    source.once("end", () => resume(Effect.succeedSome(Buffer.concat(chunks).toString("utf8"))))
  })

/** No body says as much as an empty object: that everything optional is left out, and what is required is missing. */
const withText = (request: HttpServerRequest.HttpServerRequest, text: string): HttpServerRequest.HttpServerRequest =>
  Object.create(request, {
    text: { value: Effect.succeed(text) },
    json: {
      value: Effect.try({
        try: (): unknown => (text === "" ? {} : JSON.parse(text)),
        catch: (cause) => new HttpServerError.RequestError({ request, reason: "Decode", cause })
      })
    }
  })

/**
 * The request as the API may read it, or why it must not. A declared length is judged at once; a chunked body, whose
 * length nobody declared, is read here up to the limit, and so is any that is wanted `whole`.
 */
export const admit = (
  request: HttpServerRequest.HttpServerRequest,
  options: { readonly whole: boolean }
): Effect.Effect<HttpServerRequest.HttpServerRequest, BodyRefusal> => {
  if (!carriesBody(request)) return Effect.succeed(request)
  const length = Number(request.headers["content-length"] ?? 0)
  if (length > limit) return Effect.fail("too_large")
  const isChunked = request.headers["transfer-encoding"] !== undefined
  if (!isChunked && length === 0) return Effect.succeed(withText(request, ""))
  const contentType = request.headers["content-type"]
  if (contentType === undefined || !isJson(contentType)) return Effect.fail("not_json")
  if (!isChunked && !options.whole) return Effect.succeed(request)
  return Effect.flatMap(
    readChunks(request),
    Option.match({
      onNone: () => Effect.fail("too_large" as const),
      onSome: (text) => Effect.succeed(withText(request, text))
    })
  )
}
