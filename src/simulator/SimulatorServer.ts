import { createServer } from "node:http"
import { type HttpApp, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, ParseResult, Schema } from "effect"

/** Where a simulator listens; port 0 takes any that is free. */
export interface Listening {
  readonly url: string
}

const answered = <E, R>(app: HttpApp.Default<E, R>): HttpApp.Default<never, R> =>
  Effect.catchAll(app, (error) =>
    Effect.succeed(
      ParseResult.isParseError(error)
        ? HttpServerResponse.unsafeJson({ message: ParseResult.TreeFormatter.formatErrorSync(error) }, { status: 422 })
        : HttpServerResponse.unsafeJson({ message: "The simulator knows no such route." }, { status: 404 })
    )
  )

/** Takes a port on the loopback interface for as long as the scope lives; who waits there is served once there is an app. */
export const bind = Effect.fn("SimulatorServer.bind")(function* (port: number) {
  const node = createServer()
  const server = yield* NodeHttpServer.make(() => node, { port, host: "127.0.0.1" })
  yield* Effect.addFinalizer(() => Effect.sync(() => node.closeAllConnections()))
  const { address } = server
  const url = address._tag === "TcpAddress" ? `http://127.0.0.1:${address.port}` : address.path
  return { url, serve: <E, R>(app: HttpApp.Default<E, R>) => server.serve(answered(app)) }
})

/** Serves one simulator. */
export const listen = Effect.fn("SimulatorServer.listen")(function* <E, R>(app: HttpApp.Default<E, R>, port: number) {
  const { serve, url } = yield* bind(port)
  yield* serve(app)
  return { url } satisfies Listening
})

/** The JSON body of a control call; an empty one counts as `{}`. */
export const body = <A, I, R>(schema: Schema.Schema<A, I, R>) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    Effect.flatMap(Effect.orDie(request.text), (text) =>
      Schema.decode(Schema.parseJson(schema))(text === "" ? "{}" : text)
    )
  )

export const json = (value: unknown, status = 200) => HttpServerResponse.unsafeJson(value, { status })
