import { HttpApi } from "@effect/platform"
import { ServiceApi } from "../api/ServiceApi.ts"

interface KnownPath {
  readonly pattern: RegExp
  readonly method: string
}

const operational = ["/", "/docs", "/healthz", "/readyz", "/metrics", "/api/v1/openapi.json", "/v1/openapi.json"]

const patternOf = (path: string): RegExp => new RegExp(`^${path.replace(/[.]/g, "\\.").replace(/:[^/]+/g, "[^/]+")}/?$`)

const knownPaths = (): ReadonlyArray<KnownPath> => {
  const known: Array<KnownPath> = operational.map((path) => ({ pattern: patternOf(path), method: "GET" }))
  HttpApi.reflect(ServiceApi, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint }) => {
      known.push({ pattern: patternOf(endpoint.path), method: endpoint.method })
    }
  })
  return known
}

const known = knownPaths()

/** The methods that a path knows, for `Allow`; empty for an unknown path. */
export const allowedMethods = (url: string): ReadonlyArray<string> => {
  const path = url.split("?", 1)[0] ?? ""
  return [...new Set(known.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))]
}
