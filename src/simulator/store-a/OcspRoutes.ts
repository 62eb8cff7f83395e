import { HttpRouter, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Clock, Effect, Schema } from "effect"
import { act, type ControlRoute, look } from "../Control.ts"
import { respond, type Status } from "./OcspResponder.ts"
import type { SigningAuthority } from "./SigningAuthority.ts"

const Change = Schema.Struct({
  certificate: Schema.optionalWith(Schema.Literal("leaf", "intermediate"), { default: () => "leaf" as const }),
  status: Schema.optionalWith(Schema.Literal("good", "revoked", "unknown"), { default: () => "revoked" as const })
})

/** Soon over, so that who tries it need not wait; the real store's answers hold for hours. */
const validFor = 5_000

/** The responder that the chain's certificates name, and the calls that revoke them. */
export const makeOcspRoutes = ({ issuers, serials }: SigningAuthority) => {
  const statuses: Record<keyof typeof serials, Status> = { leaf: "good", intermediate: "good" }

  const statusOf = (serial: string): Status => {
    if (serial === serials.leaf) return statuses.leaf
    return serial === serials.intermediate ? statuses.intermediate : "unknown"
  }

  const routes: ReadonlyArray<ControlRoute> = [
    look("GET", "/ocsp", "What the OCSP responder says about the certificates", () => Effect.succeed(statuses)),
    act("POST", "/ocsp", "Revokes a certificate, or takes that back", Change, ({ certificate, status }) =>
      Effect.sync(() => Object.assign(statuses, { [certificate]: status }))
    )
  ]

  const responder = HttpRouter.post(
    HttpRouter.empty,
    "/ocsp",
    Effect.gen(function* () {
      const question = yield* Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => request.arrayBuffer)
      const thisUpdate = yield* Clock.currentTimeMillis
      const nextUpdate = thisUpdate + validFor
      const answer = yield* respond(issuers, new Uint8Array(question), { statusOf, thisUpdate, nextUpdate })
      return HttpServerResponse.uint8Array(answer, { contentType: "application/ocsp-response" })
    })
  )

  return { routes, responder }
}
