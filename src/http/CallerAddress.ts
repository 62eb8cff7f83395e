import { type HttpApp, HttpServerRequest } from "@effect/platform"
import { Effect } from "effect"

/** Some proxies write the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const withPort = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/

/** The last entry of `X-Forwarded-For`: who spoke to our proxy. The ones before it are whatever that caller wrote. */
const addressOf = (forwardedFor: string | undefined): string | undefined => {
  const last = forwardedFor?.split(",").at(-1)?.trim()
  const address = last?.replace(withPort, "$1$2")
  return address === "" ? undefined : address
}

/** Behind a trusted proxy (`TRUST_PROXY`) the caller is whom the proxy names. */
export const behindProxy = <E, R>(app: HttpApp.Default<E, R>): HttpApp.Default<E, R> =>
  Effect.updateService(app, HttpServerRequest.HttpServerRequest, (request) => {
    const remoteAddress = addressOf(request.headers["x-forwarded-for"])
    return remoteAddress === undefined ? request : request.modify({ remoteAddress })
  })
