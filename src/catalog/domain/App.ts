import { Schema } from "effect"

export const AppId = Schema.UUID.pipe(Schema.brand("AppId"))
export type AppId = typeof AppId.Type

/** `paused`: client endpoints refuse, notifications are recorded. `archived`: neither. */
export const AppStatus = Schema.Literal("active", "paused", "archived")
export type AppStatus = typeof AppStatus.Type
