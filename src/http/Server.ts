import { createServer, type Server as NodeServer } from "node:http"
import {
  HttpApiBuilder,
  type HttpApp,
  HttpMiddleware,
  HttpRouter,
  HttpServer,
  HttpServerRequest,
  HttpServerResponse
} from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer, Metric, Option } from "effect"
import { ServiceApi } from "../api/ServiceApi.ts"
import { httpResponses } from "../Metrics.ts"
import { behindProxy } from "./CallerAddress.ts"
import * as Docs from "./Docs.ts"
import { Closing } from "./Closing.ts"
import { answerOf, enveloped, ErrorEnvelope, problemResponse } from "./ErrorEnvelope.ts"
import * as Health from "./Health.ts"
import * as MetricsRoute from "./MetricsRoute.ts"
import { type BodyRefusal, admit } from "./RequestBody.ts"
import { Mutations } from "./Mutations.ts"
import { requestIdOf } from "./RequestId.ts"
import { type Shortcut, Shortcuts } from "./Shortcut.ts"

/** Whatever is longer than an endpoint allows is refused by the endpoint itself, which says so, not by the router. */
const longestParameter = 8192

const drainLimit = "30 seconds"

/** After this header of a refused, unread body the connection is of no further use. */
const refused = (refusal: BodyRefusal) =>
  refusal === "too_large"
    ? problemResponse(413, "The body is larger than 1 MiB.", {}, { connection: "close" })
    : problemResponse(415, "The body must be sent as application/json.")

const counters = new Map<number, () => void>()

const count = (status: number) => {
  const known = counters.get(status)
  if (known !== undefined) return known()
  const counter = Metric.tagged(httpResponses, "status", String(status))
  const increment = () => counter.unsafeUpdate(1, [])
  counters.set(status, increment)
  increment()
}

/**
 * What every request passes, whatever it is for: the request id, the checks of the body, the headers that every answer
 * carries. Nothing of the API is cacheable, so no answer with a secret is.
 */
const front = <R>(
  app: HttpApp.Default<never, R>,
  shortcuts: ReadonlyArray<Shortcut>,
  mutations: Mutations["Type"]
): HttpApp.Default<never, R> => {
  const longWay = (admitted: HttpServerRequest.HttpServerRequest, requestId: string) =>
    mutations.around(admitted, requestId, Effect.provideService(app, HttpServerRequest.HttpServerRequest, admitted))
  const shortWay = (shortcut: Shortcut, admitted: HttpServerRequest.HttpServerRequest, requestId: string) =>
    Effect.matchEffect(shortcut.answer(admitted), {
      onFailure: (problem) => Effect.succeed(answerOf(problem)),
      onSuccess: Option.match({ onNone: () => longWay(admitted, requestId), onSome: Effect.succeed })
    })
  const answered = (request: HttpServerRequest.HttpServerRequest, requestId: string) => {
    const shortcut = shortcuts.find(({ matches }) => matches(request))
    const whole = shortcut?.readsBody === true
    const answer = Effect.catchIf(
      Effect.flatMap(admit(request, { whole }), (admitted) =>
        enveloped(shortcut === undefined ? longWay(admitted, requestId) : shortWay(shortcut, admitted, requestId))
      ),
      isRefusal,
      (refusal) => Effect.succeed(refused(refusal))
    )
    return shortcut === undefined || whole ? Effect.annotateLogs(answer, "request_id", requestId) : answer
  }
  return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    Effect.flatMap(requestIdOf(request.headers["x-request-id"]), (requestId) =>
      Effect.map(answered(request, requestId), (response) => {
        count(response.status)
        return HttpServerResponse.setHeaders(response, { "x-request-id": requestId, "cache-control": "no-store" })
      })
    )
  )
}

const isRefusal = (error: unknown): error is BodyRefusal => error === "too_large" || error === "not_json"

const waitForRequests = (server: NodeServer) =>
  Effect.async<void>((resume) => {
    server.close(() => resume(Effect.void))
  }).pipe(Effect.timeoutOption(drainLimit), Effect.zipRight(Effect.sync(() => server.closeAllConnections())))

/** Listens; on release it stops accepting first and gives what runs 30 s (contract, part 5, promise 4). */
const listening = (address: { readonly host: string; readonly port: number }) =>
  Layer.scoped(
    HttpServer.HttpServer,
    Effect.gen(function* () {
      const node = createServer({ requestTimeout: 60_000, headersTimeout: 20_000 })
      const server = yield* NodeHttpServer.make(() => node, address)
      const { begin } = yield* Closing
      yield* Effect.addFinalizer(() => Effect.zipRight(begin, waitForRequests(node)))
      return server
    })
  )

/** Both APIs and the operational routes on one port. Who implements the groups of the APIs is given from outside. */
export const layer = (options: { readonly host: string; readonly port: number; readonly trustProxy: boolean }) =>
  Effect.all([HttpApiBuilder.httpApp, Shortcuts, Mutations]).pipe(
    HttpRouter.withRouterConfig({ maxParamLength: longestParameter }),
    Effect.map(([app, shortcuts, mutations]) => {
      const served = front(app, shortcuts, mutations)
      return HttpServer.serve(options.trustProxy ? behindProxy(served) : served)
    }),
    Layer.unwrapEffect,
    Layer.provide([HttpApiBuilder.Router.Live, HttpApiBuilder.Middleware.layer]),
    HttpServer.withLogAddress,
    HttpMiddleware.withTracerDisabledWhen(() => true),
    Layer.provide([ErrorEnvelope, Health.operational, Docs.layer, MetricsRoute.layer]),
    Layer.provide(HttpApiBuilder.api(ServiceApi)),
    Layer.provideMerge(listening({ host: options.host, port: options.port })),
    Layer.provide(Closing.layer),
    Layer.provide(NodeHttpServer.layerContext)
  )
