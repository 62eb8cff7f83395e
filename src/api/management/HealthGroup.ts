import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"

export class HealthGroup extends HttpApiGroup.make("health", { topLevel: true }).add(
  HttpApiEndpoint.get("health", "/health")
    .addSuccess(Schema.Struct({ status: Schema.Literal("ok"), version: Schema.String }))
    .annotate(OpenApi.Summary, "Say that the service is up")
) {}
