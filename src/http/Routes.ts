import { HttpApi, type HttpApiEndpoint, type HttpMethod, OpenApi } from "@effect/platform"
import { Context, Option, Schema } from "effect"
import { Repeatable, type Repetition } from "../api/Repeatable.ts"
import { Requires } from "../api/Security.ts"
import { ServiceApi } from "../api/ServiceApi.ts"

/** An endpoint of the contract, as a request finds it. */
export interface Route {
  readonly method: string
  readonly pattern: RegExp
  readonly parameters: ReadonlyArray<string>
  /** `operationId` of the API reference; empty for the operational routes. */
  readonly operation: string
  /** What the body says to the endpoint, as plain JSON: secrets are Redacted by its schema, and so not in it. */
  readonly understood: (body: string) => Option.Option<unknown>
  readonly repetition: Repetition
  /** Whether it changes what belongs to a workspace. */
  readonly isAudited: boolean
}

const operational = ["/", "/docs", "/healthz", "/readyz", "/metrics", "/api/v1/openapi.json", "/v1/openapi.json"]

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.]/g, "\\.").replace(/:[^/]+/g, "([^/]+)")}/?$`)

const Json = Schema.parseJson(Schema.Unknown)

const plain = (decoded: unknown): Option.Option<unknown> =>
  Option.flatMap(Schema.encodeOption(Json)(decoded), Schema.decodeOption(Json))

type Endpoint = HttpApiEndpoint.HttpApiEndpoint<string, HttpMethod.HttpMethod>

const routeOfEndpoint = (group: string, endpoint: Endpoint): Route => ({
  method: endpoint.method,
  pattern: patternOf(endpoint.path),
  parameters: [...endpoint.path.matchAll(/:([^/]+)/g)].map(([, name = ""]) => name),
  operation: Option.getOrElse(
    Context.getOption(endpoint.annotations, OpenApi.Identifier),
    () => `${group}.${endpoint.name}`
  ),
  understood: (body) =>
    Option.flatMap(endpoint.payloadSchema, (payload) =>
      Schema.decodeOption(Json)(body).pipe(Option.flatMap(Schema.decodeUnknownOption(payload)), Option.flatMap(plain))
    ),
  repetition: Option.getOrElse(Context.getOption(endpoint.annotations, Repeatable), () =>
    endpoint.method === "POST" ? ("together" as const) : ("never" as const)
  ),
  isAudited: endpoint.method !== "GET" && Option.isSome(Context.getOption(endpoint.annotations, Requires))
})

const knownRoutes = (): ReadonlyArray<Route> => {
  const known: Array<Route> = operational.map((path) => ({
    method: "GET",
    pattern: patternOf(path),
    parameters: [],
    operation: "",
    understood: () => Option.none(),
    repetition: "never",
    isAudited: false
  }))
  HttpApi.reflect(ServiceApi, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, group }) => known.push(routeOfEndpoint(group.identifier, endpoint))
  })
  return known
}

/** Fixed paths before those with parameters. */
const known = knownRoutes().toSorted((one, other) => one.parameters.length - other.parameters.length)

const pathOf = (url: string): string => url.split("?", 1)[0] ?? ""

/** The methods that a path knows, for `Allow`; empty for an unknown path. */
export const allowedMethods = (url: string): ReadonlyArray<string> => {
  const path = pathOf(url)
  return [...new Set(known.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))]
}

export const routeOf = (method: string, url: string): Option.Option<Route> => {
  const path = pathOf(url)
  return Option.fromNullable(known.find((route) => route.method === method && route.pattern.test(path)))
}

/** The parameters of a path that has matched, decoded. */
export const parametersOf = (route: Route, url: string): Readonly<Record<string, string>> => {
  const [, ...values] = route.pattern.exec(pathOf(url)) ?? []
  return Object.fromEntries(route.parameters.map((name, index) => [name, decoded(values[index] ?? "")]))
}

const decoded = (segment: string): string => {
  const plain = Option.liftThrowable(decodeURIComponent)(segment)
  return Option.getOrElse(plain, () => segment)
}
