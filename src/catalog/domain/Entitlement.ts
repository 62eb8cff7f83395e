import { Schema } from "effect"

export const EntitlementId = Schema.UUID.pipe(Schema.brand("EntitlementId"))
export type EntitlementId = typeof EntitlementId.Type

/** A level of access, unlocked by any of its products. */
export class Entitlement extends Schema.Class<Entitlement>("Entitlement")({
  id: EntitlementId,
  identifier: Schema.String,
  name: Schema.String,
  productIdentifiers: Schema.Array(Schema.String)
}) {}
