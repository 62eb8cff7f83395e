import { HttpServerRequest, type HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import { answerToSession } from "./Trouble.ts"
import { fail } from "./Wire.ts"
import type { SimulatedAccount, World } from "./World.ts"

/** Answers for the account whose session the call carries. */
export const asAccount =
  (world: World) =>
  <E, R>(use: (account: SimulatedAccount) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) => {
      const account = world.whoHas(headers["authorization"])
      if (account === undefined) return Effect.succeed(fail({ message: "login_required" }, 403))
      const trouble = answerToSession(account)
      return trouble === undefined ? use(account) : Effect.succeed(trouble)
    })
