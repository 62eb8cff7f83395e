import { HttpRouter, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Data, Effect, JSONSchema, ParseResult, Schema } from "effect"

/** A control call that cannot be carried out: 404 for what is not there, 409 for what the store would not do. */
export class ControlRefused extends Data.TaggedError("ControlRefused")<{
  readonly status: 404 | 409 | 422
  readonly message: string
  readonly state?: unknown
}> {}

type Params = Readonly<Record<string, string>>

/** One control call: what it does, the shape of its body, and its deed. What it returns is the answer's JSON. */
export interface ControlRoute {
  readonly method: "GET" | "POST" | "PUT" | "DELETE"
  readonly path: `/${string}`
  readonly does: string
  readonly body: JSONSchema.JsonSchema7Root | undefined
  readonly handle: (text: string, params: Params) => Effect.Effect<unknown, ControlRefused | ParseResult.ParseError>
}

/** A call without a body. */
export const look = (
  method: "GET" | "DELETE",
  path: `/${string}`,
  does: string,
  handle: (params: Params) => Effect.Effect<unknown, ControlRefused>
): ControlRoute => ({ method, path, does, body: undefined, handle: (_, params) => handle(params) })

/** A call with a JSON body of a shape; an empty one counts as `{}`, a member that is not known is refused. */
export const act = <A, I>(
  method: "POST" | "PUT",
  path: `/${string}`,
  does: string,
  schema: Schema.Schema<A, I>,
  handle: (input: A, params: Params) => Effect.Effect<unknown, ControlRefused>
): ControlRoute => {
  const decode = Schema.decode(Schema.parseJson(schema), { errors: "all", onExcessProperty: "error" })
  return {
    method,
    path,
    does,
    body: JSONSchema.make(schema),
    handle: (text, params) => Effect.flatMap(decode(text.trim() === "" ? "{}" : text), (input) => handle(input, params))
  }
}

const json = (value: unknown, status = 200) => HttpServerResponse.unsafeJson(value, { status })

const wrongBody = (error: ParseResult.ParseError) => {
  const issues = ParseResult.ArrayFormatter.formatErrorSync(error)
  const errors: Record<string, Array<string>> = {}
  const told = issues.filter(({ message }) => !message.startsWith("Expected undefined"))
  for (const { message, path } of told) (errors[path.join(".") || "body"] ??= []).push(message)
  return json({ message: "The body is not as it must be.", errors, see: "GET /" }, 422)
}

const refusal = ({ message, state, status }: ControlRefused) =>
  json({ message, ...(state === undefined ? {} : { state }) }, status)

/** The control calls under `/_control`, and their list at `GET /`. */
export const controlRouter = (
  simulator: string,
  about: Effect.Effect<Readonly<Record<string, unknown>>>,
  routes: ReadonlyArray<ControlRoute>
) => {
  const listed = routes.map(({ body, does, method, path }) => ({
    call: `${method} /_control${path}`,
    does,
    ...(body === undefined ? {} : { body })
  }))
  const first = HttpRouter.get(
    HttpRouter.empty,
    "/",
    Effect.map(about, (more) => json({ simulator, ...more, control: listed }))
  )
  return routes.reduce(
    (router, { handle, method, path }) =>
      HttpRouter.route(method)(
        router,
        `/_control${path}`,
        Effect.gen(function* () {
          const text = yield* Effect.orDie(
            Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => request.text)
          )
          const params = yield* HttpRouter.params
          const known = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, value ?? ""]))
          return yield* handle(text, known).pipe(
            Effect.map((value) => json(value)),
            Effect.catchTags({
              ControlRefused: (refused) => Effect.succeed(refusal(refused)),
              ParseError: (error) => Effect.succeed(wrongBody(error))
            })
          )
        })
      ),
    first
  )
}
