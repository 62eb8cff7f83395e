import { Args, Command, Options } from "@effect/cli"
import { HttpClient, HttpClientRequest, HttpMethod } from "@effect/platform"
import { Console, Data, Effect, Option, Record, Redacted, Schedule, Schema } from "effect"

class ControlFailed extends Data.TaggedError("ControlFailed")<{ readonly message: string }> {}

const addresses: { readonly [name: string]: string } = {
  "store-a": "http://127.0.0.1:9101",
  "store-b": "http://127.0.0.1:9104"
}

const Json = Schema.parseJson(Schema.Unknown)

/** `name=text`, or `name:=json`. */
const fieldOf = Effect.fn("SimulateControl.field")(function* (text: string) {
  const [, name = "", isJson, value = ""] = /^([^:=]+)(:?)=(.*)$/s.exec(text) ?? []
  if (name === "") return yield* new ControlFailed({ message: `${text} must be name=text or name:=json` })
  if (isJson !== ":") return [name, value] as const
  const decoded = yield* Effect.mapError(
    Schema.decode(Json)(value),
    () => new ControlFailed({ message: `${name} must be JSON: ${value}` })
  )
  return [name, decoded] as const
})

/** Walks into an answer: `data.0.uuid`; nothing where it leads nowhere. */
const at = (value: unknown, path: ReadonlyArray<string>): unknown => {
  const [key, ...rest] = path
  if (key === undefined) return value
  if (key === "length" && Array.isArray(value)) return value.length
  return typeof value === "object" && value !== null
    ? at(Object.entries(value).find(([name]) => name === key)?.[1], rest)
    : undefined
}

const shown = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? ""))

const options = {
  token: Options.redacted("token").pipe(
    Options.optional,
    Options.withDescription("Bearer token, for calls to the program itself")
  ),
  get: Options.text("get").pipe(
    Options.optional,
    Options.withDescription("Print one part of the answer alone: data.0.uuid")
  ),
  until: Options.text("until").pipe(
    Options.optional,
    Options.withDescription("Ask again, for 60 seconds at most, until that part is this")
  ),
  target: Args.text({ name: "target" }).pipe(Args.withDescription("store-a, store-b or a URL")),
  method: Args.text({ name: "method" }).pipe(Args.withDefault("GET")),
  path: Args.text({ name: "path" }).pipe(Args.withDefault("/")),
  fields: Args.text({ name: "field" }).pipe(
    Args.withDescription("Members of the body: name=text or name:=json"),
    Args.repeated
  )
}

const asked = Effect.fn("SimulateControl.asked")(function* (request: HttpClientRequest.HttpClientRequest) {
  const response = yield* Effect.mapError(
    HttpClient.execute(request),
    () => new ControlFailed({ message: `nobody answers at ${request.url}` })
  )
  const text = yield* Effect.orElseSucceed(response.text, () => "")
  const body = Option.getOrElse(Schema.decodeOption(Json)(text), (): unknown => text)
  return { status: response.status, body }
})

/** Drives a simulator that runs, or asks the program beside it. */
export const controlCommand = Command.make("control", options, (chosen) =>
  Effect.gen(function* () {
    const method = chosen.method.toUpperCase()
    if (!HttpMethod.isHttpMethod(method)) {
      return yield* new ControlFailed({ message: `${chosen.method} is no method of HTTP` })
    }
    const base = Option.getOrElse(Record.get(addresses, chosen.target), () => chosen.target)
    const fields = Object.fromEntries(yield* Effect.forEach(chosen.fields, fieldOf))
    const plain = HttpClientRequest.make(method)(`${base.replace(/\/+$/, "")}/${chosen.path.replace(/^\/+/, "")}`)
    const bearing = Option.match(chosen.token, {
      onNone: () => plain,
      onSome: (token) => HttpClientRequest.bearerToken(plain, Redacted.value(token))
    })
    const request = method === "GET" ? bearing : HttpClientRequest.bodyUnsafeJson(bearing, fields)
    const look = Effect.map(asked(request), ({ body, status }) => ({
      status,
      part: Option.match(
        Option.filter(chosen.get, () => status < 400),
        {
          onNone: () => body,
          onSome: (path) => at(body, path.split("."))
        }
      )
    }))
    const answer = yield* Option.match(chosen.until, {
      onNone: () => look,
      onSome: (wanted) =>
        look.pipe(
          Effect.filterOrFail(
            ({ part }) => shown(part) === wanted,
            ({ part }) => new ControlFailed({ message: `it is still ${shown(part)}` })
          ),
          Effect.retry(Schedule.spaced("200 millis").pipe(Schedule.upTo("60 seconds")))
        )
    })
    yield* Console.log(shown(answer.part))
    if (answer.status >= 400) return yield* new ControlFailed({ message: `${request.url} answered ${answer.status}` })
  })
).pipe(Command.withDescription("Drive a simulator that runs; without a path it lists what it can be told"))
