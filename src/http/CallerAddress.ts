import { type HttpApp, HttpServerRequest } from "@effect/platform"
import { Effect } from "effect"

/** The last entry of `X-Forwarded-For`: who spoke to our proxy. The ones before it are whatever that caller wrote. */
const addressOf = (forwardedFor: string | undefined): string | undefined => {
  const address = forwardedFor?.split(",").at(-1)?.trim()
  return address === "" ? undefined : address
}

/** Behind a trusted proxy (`TRUST_PROXY`) the caller is whom the proxy names. */
export const behindProxy = <E, R>(app: HttpApp.Default<E, R>): HttpApp.Default<E, R> =>
  Effect.updateService(app, HttpServerRequest.HttpServerRequest, (request) => {
    const remoteAddress = addressOf(request.headers["x-forwarded-for"])
    return remoteAddress === undefined ? request : request.modify({ remoteAddress })
  })
