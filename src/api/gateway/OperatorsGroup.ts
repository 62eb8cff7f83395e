import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Credentials } from "../Credentials.ts"
import { data, Timestamp } from "../Envelope.ts"
import { BadRequest, Forbidden, Invalid, TooMany, Unauthenticated } from "../Problem.ts"
import { repeatable } from "../Repeatable.ts"
import { OperatorAuth } from "../Security.ts"

export class OperatorsGroup extends HttpApiGroup.make("operators")
  .add(
    HttpApiEndpoint.post("operatorLogin", "/auth/login")
      .setPayload(Credentials)
      .addSuccess(
        data(
          Schema.Struct({
            token: Schema.Redacted(Schema.String).annotations({ description: "JWT, 12 hours" }),
            expires_at: Timestamp
          })
        )
      )
      .addError(BadRequest.wire)
      .addError(Unauthenticated.wire)
      .addError(Forbidden.wire)
      .addError(Invalid.wire)
      .addError(TooMany.wire)
      .annotateContext(repeatable("never"))
      .annotate(OpenApi.Summary, "Exchange an operator's e-mail and password for a token")
  )
  .add(
    HttpApiEndpoint.post("operatorLogout", "/auth/logout")
      .addSuccess(data(Schema.Struct({ revoked: Schema.Literal(true) })))
      .middleware(OperatorAuth)
      .annotateContext(repeatable("never"))
      .annotate(OpenApi.Summary, "Revoke the presented token")
  ) {}
