import type { MessageStatus } from "./Message.ts"

type Step = "delivered" | "read"

/**
 * What a receipt adds to a message that stands at `status`: forward only, nothing twice, and a step that the platform
 * left out is made up, since nobody reads what was not delivered.
 */
export const stepsTo = (status: MessageStatus, receipt: Step): ReadonlyArray<Step> => {
  if (status === "sent") return receipt === "read" ? ["delivered", "read"] : ["delivered"]
  return status === "delivered" && receipt === "read" ? ["read"] : []
}
