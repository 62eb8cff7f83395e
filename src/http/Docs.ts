import { HttpApiBuilder, HttpApiSwagger, HttpServerResponse, OpenApi } from "@effect/platform"
import { Effect, Layer } from "effect"
import { GatewayApi } from "../api/GatewayApi.ts"
import { ManagementApi } from "../api/ManagementApi.ts"

/** The OpenAPI documents of both APIs. */
export const openApi = Effect.sync(() => ({
  management: OpenApi.fromApi(ManagementApi),
  gateway: OpenApi.fromApi(GatewayApi)
}))

const documents = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function* () {
    const { gateway, management } = yield* openApi
    yield* router.get("/api/v1/openapi.json", HttpServerResponse.unsafeJson(management))
    yield* router.get("/v1/openapi.json", HttpServerResponse.unsafeJson(gateway))
  })
)

/** `/docs`, with every asset inside the page, and the two OpenAPI documents. */
export const layer = Layer.merge(documents, HttpApiSwagger.layer({ path: "/docs" }))
