import { Predicate } from "effect"

const keyed = ["chat_id", "app_user_id"] as const

/**
 * Whose events keep their order: one chat's or one customer's. What concerns neither keeps its order within its account
 * or app.
 */
export const orderKeyOf = (data: unknown): string => {
  if (!Predicate.isReadonlyRecord(data)) return ""
  const key = keyed.map((field) => data[field]).find(Predicate.isString)
  return key ?? ""
}
