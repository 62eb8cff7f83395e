import { HttpApiBuilder, HttpApiSwagger, HttpServerResponse, OpenApi } from "@effect/platform"
import { Effect, Layer } from "effect"
import { GatewayApi } from "../api/GatewayApi.ts"
import { ManagementApi } from "../api/ManagementApi.ts"

const documents = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function* () {
    yield* router.get("/api/v1/openapi.json", HttpServerResponse.unsafeJson(OpenApi.fromApi(ManagementApi)))
    yield* router.get("/v1/openapi.json", HttpServerResponse.unsafeJson(OpenApi.fromApi(GatewayApi)))
  })
)

/** `/docs`, with every asset inside the page, and the two OpenAPI documents. */
export const layer = Layer.merge(documents, HttpApiSwagger.layer({ path: "/docs" }))
