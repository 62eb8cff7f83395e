import type { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Context, type Effect, type Option } from "effect"
import type { Problem } from "../api/Problem.ts"

/**
 * A short way around router and decoding for a request that comes very often. It answers exactly what the endpoint of the
 * contract would, or none: then the request takes the long way, which decides everything unusual. One that reads the body
 * finds it admitted, as `text`.
 */
export interface Shortcut {
  readonly readsBody: boolean
  readonly matches: (request: HttpServerRequest.HttpServerRequest) => boolean
  readonly answer: (
    request: HttpServerRequest.HttpServerRequest
  ) => Effect.Effect<Option.Option<HttpServerResponse.HttpServerResponse>, Problem>
}

export class Shortcuts extends Context.Tag("gatehouse/http/Shortcuts")<Shortcuts, ReadonlyArray<Shortcut>>() {}
