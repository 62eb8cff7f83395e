import { Effect } from "effect"
import type { DeliveryId } from "./domain/Webhook.ts"

/** The deliveries whose attempt is under way in this process, or over and not yet written back. */
export class UnderWay extends Effect.Service<UnderWay>()("gatehouse/webhook/UnderWay", {
  sync: () => ({ ids: new Set<DeliveryId>() })
}) {}
