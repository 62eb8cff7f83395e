import { Effect } from "effect"
import { NotFound } from "../api/Problem.ts"
import { Channels } from "./Channels.ts"

/** The account of the path. */
export const channelOfPath = (id: string) =>
  Effect.flatMap(Channels, (channels) => channels.byId(id)).pipe(
    Effect.catchTag("ChannelNotFound", () => new NotFound({ message: "No such account." }))
  )
