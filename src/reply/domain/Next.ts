import { Data, type DateTime } from "effect"

/**
 * How the replies of a chat go on: at a moment, when there is something to do; or when the channel has sent the one that
 * is under way, or with a new message.
 */
export type Next = Data.TaggedEnum<{ At: { readonly moment: DateTime.Utc }; Sending: {}; Idle: {} }>
export const Next = Data.taggedEnum<Next>()
