import { Schema } from "effect"
import { TenantId } from "../../identity/domain/User.ts"
import { StoreName } from "./Product.ts"

export const AppId = Schema.UUID.pipe(Schema.brand("AppId"))
export type AppId = typeof AppId.Type

/** `paused`: client endpoints refuse, notifications are recorded. `archived`: neither. */
export const AppStatus = Schema.Literal("active", "paused", "archived")
export type AppStatus = typeof AppStatus.Type

/** What becomes of a purchase that a second customer proves: it moves to that one, or stays and the proof is refused. */
export const TransferBehavior = Schema.Literal("transfer", "keep")
export type TransferBehavior = typeof TransferBehavior.Type

export class App extends Schema.Class<App>("App")({
  id: AppId,
  tenantId: TenantId,
  name: Schema.String,
  slug: Schema.String,
  bundleId: Schema.OptionFromNullOr(Schema.String),
  packageName: Schema.OptionFromNullOr(Schema.String),
  platforms: Schema.Array(StoreName),
  publicApiKey: Schema.String,
  status: AppStatus,
  transferBehavior: TransferBehavior,
  createdAt: Schema.DateTimeUtcFromDate,
  updatedAt: Schema.DateTimeUtcFromDate
}) {}
