import { Effect } from "effect"
import { Forbidden, NotFound } from "../api/Problem.ts"
import { CurrentCaller } from "../api/Security.ts"
import { Apps } from "./Apps.ts"

export const roleTooLow = () => new Forbidden({ message: "Your role in this workspace does not allow that." })

/** The app of the path, as far as the caller may touch it; otherwise the refusal of the contract. */
export const callerApp = Effect.fn("callerApp")(
  function* (id: string) {
    const apps = yield* Apps
    return yield* apps.forCaller(yield* CurrentCaller, id)
  },
  Effect.catchTags({
    AppNotFound: () => new NotFound({ message: "No such app." }),
    RoleTooLow: roleTooLow
  })
)
