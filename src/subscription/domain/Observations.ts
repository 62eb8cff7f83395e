import { Equal } from "effect"
import type { PurchaseFact } from "../../store/domain/PurchaseFact.ts"
import { bySigning, type History, replay } from "./Lifecycle.ts"

/** What to do with a statement: keep it, keep it in the place of another one, or nothing. */
export type Worth =
  | { readonly _tag: "Apply" }
  | { readonly _tag: "Keep" }
  | { readonly _tag: "Replace"; readonly factId: string }
  | { readonly _tag: "Drop" }

const apply: Worth = { _tag: "Apply" }
const keep: Worth = { _tag: "Keep" }
const drop: Worth = { _tag: "Drop" }

const isSame = (left: History, right: History): boolean =>
  Equal.equals(left.subscription, right.subscription) &&
  left.transactions.size === right.transactions.size &&
  [...left.transactions].every(([id, transaction]) => Equal.equals(right.transactions.get(id), transaction)) &&
  left.changes.length === right.changes.length &&
  left.changes.every(({ slot }, index) => right.changes[index]?.slot === slot)

/**
 * Purchases are looked at far more often than they change, and what a look says again needs no row: one that changes
 * nothing is kept only in the place of the look before it. It is kept there, not dropped, because it is the newest word of
 * the store, which an older one that comes late must not overwrite. Everything else is applied.
 */
export const worthOf = (known: ReadonlyArray<PurchaseFact>, fact: PurchaseFact): Worth => {
  if (known.some(({ factId }) => factId === fact.factId)) return drop
  const [first, ...others] = [...known].sort(bySigning)
  if (fact.kind !== "observed" || first === undefined) return apply
  const before = replay([first, ...others])
  if (!isSame(before, replay([fact, first, ...others]))) return apply
  const last = others.at(-1) ?? first
  if (bySigning(fact, last) < 0) return drop
  const rest = [first, ...others].slice(0, -1)
  return last.kind === "observed" && isSame(before, replay([fact, ...rest]))
    ? { _tag: "Replace", factId: last.factId }
    : keep
}
