import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { data } from "../Envelope.ts"
import { AppKeyAuth } from "../Security.ts"
import { Offering } from "./OfferingsGroup.ts"
import { Package } from "./PackagesGroup.ts"
import { Product } from "./ProductsGroup.ts"

const PresentedOffering = Schema.Struct({
  ...Offering.fields,
  packages: Schema.Array(
    Schema.Struct({
      ...Package.fields,
      products: Schema.Array(Product).annotations({
        description: "The product of each store that carries `product_identifier`: an SDK takes that of its own store"
      })
    })
  ).annotations({ description: "Oldest first" })
}).annotations({
  identifier: "PresentedOffering",
  examples: [
    {
      uuid: "019a9a44-33c8-7b9a-a1d4-0c8e5f2b7d64",
      identifier: "default",
      is_current: true,
      packages: [
        {
          uuid: "019a9a45-33c8-7b9a-a1d4-0c8e5f2b7d65",
          identifier: "monthly",
          package_type: "monthly",
          product_identifier: "pro.monthly",
          products: [
            {
              uuid: "019a9a42-33c8-7b9a-a1d4-0c8e5f2b7d62",
              store: "store_a",
              identifier: "pro.monthly",
              name: "Pro, monthly",
              type: "subscription",
              subscription_period: "P1M",
              price: 9.99,
              currency: "USD"
            }
          ]
        }
      ]
    }
  ]
})

export class ClientOfferingsGroup extends HttpApiGroup.make("clientOfferings")
  .add(
    HttpApiEndpoint.get("getOfferings", "/client/offerings")
      .addSuccess(
        data(
          Schema.Struct({
            current_offering_id: Schema.NullOr(Schema.String).annotations({
              description: "Identifier of the offering to show, null when none is current",
              examples: ["default"]
            }),
            offerings: Schema.Array(PresentedOffering).annotations({
              description: "All offerings of the app, the current one first, then the oldest first"
            })
          })
        )
      )
      .annotate(OpenApi.Summary, "What the app offers to buy: the current offering and all others")
      .annotate(
        OpenApi.Description,
        "Whole, not paged: an SDK shows `current_offering_id`, and finds by identifier what a placement or an experiment asks for."
      )
  )
  .middleware(AppKeyAuth) {}
