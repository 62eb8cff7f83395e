import { HttpApi, OpenApi } from "@effect/platform"
import { documented } from "./Document.ts"
import { GatewayApi } from "./GatewayApi.ts"
import { ManagementApi } from "./ManagementApi.ts"

/** Both APIs as one server serves them. */
export class ServiceApi extends HttpApi.make("service")
  .addHttpApi(ManagementApi)
  .addHttpApi(GatewayApi)
  .annotateContext(documented)
  .annotate(OpenApi.Title, "Gatehouse")
  .annotate(OpenApi.Version, "1.0.0") {}
