import type { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Context, type Effect, type Option } from "effect"

/**
 * A short way around router and decoding for a request that every phone makes. It answers exactly what the endpoint of
 * the contract would, or none: then the request takes the long way, which decides everything unusual.
 */
export class Shortcut extends Context.Tag("gatehouse/http/Shortcut")<
  Shortcut,
  {
    readonly matches: (request: HttpServerRequest.HttpServerRequest) => boolean
    readonly answer: (
      request: HttpServerRequest.HttpServerRequest
    ) => Effect.Effect<Option.Option<HttpServerResponse.HttpServerResponse>>
  }
>() {}
