import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { NotFound } from "../Problem.ts"
import { AppKeyAuth } from "../Security.ts"
import { appUserPath } from "./CustomersGroup.ts"
import { SubscriberAnswer } from "./Subscriber.ts"

export class ClientGroup extends HttpApiGroup.make("client")
  .add(
    HttpApiEndpoint.get("getSubscriber")`/client/subscribers/${appUserPath}`
      .addSuccess(SubscriberAnswer)
      .addError(NotFound.wire)
      .annotate(OpenApi.Summary, "Show a subscriber; the first read creates the customer")
  )
  .middleware(AppKeyAuth) {}
