import { HttpApiBuilder, HttpServerResponse } from "@effect/platform"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { ServiceApi } from "../api/ServiceApi.ts"
import { problemResponse } from "./ErrorEnvelope.ts"
import { version } from "./Version.ts"

/** `/healthz`: the process is up. `/readyz`: storage answers; the actors have started before the server listens. */
export const operational = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const storage = sql`SELECT 1`.pipe(Effect.timeout("2 seconds"))
    yield* router.get("/healthz", HttpServerResponse.unsafeJson({ status: "ok", version }))
    yield* router.get(
      "/readyz",
      Effect.match(storage, {
        onSuccess: () => HttpServerResponse.unsafeJson({ status: "ready", version }),
        onFailure: () => problemResponse(503, "The storage does not answer.", {}, { "retry-after": "2" })
      })
    )
    yield* router.get("/", HttpServerResponse.redirect("/docs"))
  })
)

export const HealthHttp = HttpApiBuilder.group(ServiceApi, "health", (handlers) =>
  handlers.handle("health", () => Effect.succeed({ status: "ok" as const, version }))
)
