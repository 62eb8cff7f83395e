import { HttpServerRequest, HttpServerResponse, UrlParams } from "@effect/platform"
import { Effect, Schema } from "effect"

/** Ids of people are JSON numbers beyond 2^53 on the wire, as the real platform writes them. */
export const ok = (value: object = {}, headers: Record<string, string> = {}) =>
  HttpServerResponse.text(JSON.stringify({ ...value, status: "ok" }).replace(/"(pk|user_id)":"(\d+)"/g, '"$1":$2'), {
    contentType: "application/json",
    headers
  })

export const fail = (value: object, status = 400) =>
  HttpServerResponse.unsafeJson({ ...value, status: "fail" }, { status })

export const noThread = fail({ message: "Thread does not exist" }, 404)

const SignedForm = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))

/** Fields of a url-encoded form, taken out of the signed body where there is one. */
export const form = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const plain: Record<string, unknown> = UrlParams.toRecord(yield* Effect.orDie(request.urlParamsBody))
  const signed = plain["signed_body"]
  if (typeof signed !== "string") return plain
  return yield* Schema.decode(SignedForm)(signed.slice(signed.indexOf(".") + 1))
})
