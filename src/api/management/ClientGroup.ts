import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { fields } from "../Envelope.ts"
import { Conflict, Invalid, NotFound } from "../Problem.ts"
import { repeatable } from "../Repeatable.ts"
import { AppKeyAuth } from "../Security.ts"
import { appUserId, appUserPath } from "./CustomersGroup.ts"
import { SubscriberAnswer } from "./Subscriber.ts"

export class ClientGroup extends HttpApiGroup.make("client")
  .add(
    HttpApiEndpoint.get("getSubscriber")`/client/subscribers/${appUserPath}`
      .addSuccess(SubscriberAnswer)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotate(OpenApi.Summary, "Show a subscriber; the first read creates the customer")
  )
  .add(
    HttpApiEndpoint.post("identifySubscriber")`/client/subscribers/${appUserPath}/identify`
      .setPayload(
        fields({
          app_user_id: appUserId.annotations({ description: "The person's name in the app; not an anonymous id" })
        })
      )
      .addSuccess(SubscriberAnswer)
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .addError(Invalid.wire)
      .annotateContext(repeatable("never"))
      .annotate(OpenApi.Summary, "Say who an anonymous subscriber is")
      .annotate(
        OpenApi.Description,
        "Merges the anonymous customer of the path into the named one: purchases, grants and history move, and the old id keeps leading to the merged customer. Customers that do not exist yet are created. The same call again changes nothing; two named customers never merge (409). Event `customer.identified`."
      )
  )
  .middleware(AppKeyAuth) {}
