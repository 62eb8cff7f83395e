import { randomUUID } from "node:crypto"
import { Effect, Either, Option } from "effect"
import { ControlRefused } from "../Control.ts"
import type { makeCourier } from "../Courier.ts"
import type { StoreClock } from "../StoreClock.ts"
import { after } from "../Timescale.ts"
import { decide, type Deed } from "./Deed.ts"
import { bought, dueOf, elapse, expired } from "./Life.ts"
import { type Moment, type Notice, type Outcome, type Purchase, shown, type Voided } from "./Purchase.ts"
import { type Push, write } from "./PushSender.ts"
import type { NewPurchase } from "./Terms.ts"

/** An order that was taken back, and of which purchase. */
export interface VoidedOrder extends Voided {
  readonly purchase: Purchase
}

const wordOf = ({ purchase, word }: Notice) => {
  const { plan, terms, token } = purchase
  if (word._tag === "voided") {
    const { orderId, refundType } = word
    const productType = terms.one_time ? 2 : 1
    return { voidedPurchaseNotification: { purchaseToken: token, orderId, productType, refundType } }
  }
  const said = { version: "1.0", notificationType: word.type, purchaseToken: token }
  return terms.one_time
    ? { oneTimeProductNotification: { ...said, sku: plan.productId } }
    : { subscriptionNotification: said }
}

/** How a purchase takes the place of another: at once, when that one's period ends, as more time, or after its end. */
export type Replacement = "immediate" | "deferred" | "top_up" | "resubscribe"

const noPurchase = new ControlRefused({ status: 404, message: "No such purchase." })

/** Everything that store B has sold, voided and told, and the time that passes over it. */
export const makeBooks = Effect.fn("Books.make")(function* (parts: {
  readonly clock: StoreClock
  readonly courier: Effect.Effect.Success<ReturnType<typeof makeCourier<Push>>>
  readonly notificationUrl: Option.Option<string>
}) {
  const { clock, courier } = parts
  const scope = yield* Effect.scope
  const purchases = new Map<string, Purchase>()
  const pushes: Array<Push> = []
  const voided: Array<VoidedOrder> = []
  let lastOrder = 1000

  const nextOrder = () => {
    lastOrder += 1
    return `GPA.3300-0000-0000-${String(lastOrder).padStart(5, "0")}`
  }

  const scaleOf = (terms: NewPurchase) => terms.seconds_per_month ?? clock.scale()
  const momentOf = (terms: NewPurchase): Effect.Effect<Moment> =>
    Effect.map(clock.now, (now) => ({ now, scale: scaleOf(terms) }))

  const addressOf = (packageName: string, url: string | undefined, audience: string | undefined) => ({
    packageName: courier.mode().another_app ? "com.example.another_app" : packageName,
    url: url ?? Option.getOrUndefined(parts.notificationUrl),
    audience
  })

  /** Writes all, then sends one after the other; answers with the last. */
  const tell = Effect.fn("Books.tell")(function* (notices: ReadonlyArray<Notice>) {
    const now = yield* clock.now
    const written = notices.map((notice) => {
      const { notification_url, package_name, push_audience } = notice.purchase.terms
      return write(addressOf(package_name, notification_url, push_audience), wordOf(notice), now)
    })
    pushes.push(...written)
    const receivers = yield* Effect.forEach(written, courier.send)
    return { push: written.at(-1) ?? null, receiver: receivers.at(-1) ?? null }
  })

  const keep = (outcome: Outcome) => {
    const { purchase } = outcome
    purchases.set(purchase.token, purchase)
    voided.push(...outcome.voided.map((order) => ({ ...order, purchase })))
    return outcome.notices
  }

  const background = (notices: ReadonlyArray<Notice>) =>
    Effect.when(Effect.forkIn(tell(notices), scope), () => notices.length > 0)

  /** Brings a purchase up to date, telling in the background what happened to it by itself. */
  const find = Effect.fn("Books.find")(function* (token: string) {
    const known = purchases.get(token)
    if (known === undefined) return undefined
    const moment = yield* momentOf(known.terms)
    const outcome = elapse(known, moment)
    yield* background(keep(outcome))
    return { purchase: outcome.purchase, moment }
  })

  const found = (token: string) =>
    Effect.flatMap(find(token), (known) => (known === undefined ? noPurchase : Effect.succeed(known)))

  const answer = (token: string, told: Effect.Effect.Success<ReturnType<typeof tell>>) => {
    const purchase = purchases.get(token)
    return { purchase: purchase === undefined ? null : shown(purchase), ...told }
  }

  const deed = Effect.fn("Books.deed")(function* (token: string, what: Deed) {
    const { moment, purchase } = yield* found(token)
    const decision = decide(purchase, what, moment)
    if (Either.isLeft(decision)) {
      return yield* new ControlRefused({ status: 409, message: decision.left.reason, state: shown(purchase) })
    }
    return answer(token, yield* tell(keep(decision.right)))
  })

  const begin = Effect.fn("Books.begin")(function* (
    terms: NewPurchase,
    linked: Partial<Pick<Purchase, "linkedPurchaseToken" | "expiredPurchaseToken">> = {},
    change: (purchase: Purchase) => Purchase = (same) => same
  ) {
    const token = `simulated-${randomUUID()}`
    const names = { linkedPurchaseToken: undefined, expiredPurchaseToken: undefined, ...linked }
    const outcome = bought(terms, { ...names, token, order: nextOrder() }, yield* momentOf(terms))
    const purchase = change(outcome.purchase)
    const notices = outcome.notices.map((notice) => ({ ...notice, purchase }))
    return answer(token, yield* tell(keep({ ...outcome, purchase, notices })))
  })

  const replace = Effect.fn("Books.replace")(function* (
    token: string,
    how: Replacement,
    more: Partial<Pick<NewPurchase, "product_id" | "base_plan_id" | "price" | "period">>
  ) {
    const { moment, purchase } = yield* found(token)
    const { expiryTime, plan, state } = purchase
    const isOver = state === "EXPIRED"
    const isBack = how === "resubscribe"
    if (
      purchase.terms.one_time ||
      state.startsWith("PENDING") ||
      (isOver && !isBack) ||
      (isBack && state === "ACTIVE")
    ) {
      const message = isBack ? "only what is canceled or over is bought again" : "only what runs is replaced"
      return yield* new ControlRefused({ status: 409, message, state: shown(purchase) })
    }
    const terms = { ...purchase.terms, ...more, trial: false, offer: undefined, pending: false, payment_works: true }
    const linked = isOver ? { expiredPurchaseToken: token } : { linkedPurchaseToken: token }
    const told = yield* begin(terms, linked, (next) => {
      if (how === "deferred") return { ...next, plan, expiryTime }
      return how === "top_up" ? { ...next, expiryTime: after(expiryTime, terms.period, moment.scale) } : next
    })
    if (!isOver) {
      const by = { by: "replacement", at: moment.now } as const
      yield* tell(keep(expired({ ...purchase, canceled: by }, moment.now)))
    }
    return told
  })

  return {
    purchases,
    pushes,
    voided,
    find,
    deed,
    replace,
    buy: (terms: NewPurchase) => begin(terms),
    /** A notification that is about no purchase. */
    test: Effect.fn("Books.test")(function* (packageName: string, url: string | undefined) {
      const what = { testNotification: { version: "1.0" } }
      const push = write(addressOf(packageName, url, undefined), what, yield* clock.now)
      pushes.push(push)
      return { push, receiver: yield* courier.send(push) }
    }),
    work: {
      due: () =>
        [...purchases.values()].reduce<number | undefined>((first, purchase) => {
          const due = dueOf(purchase)
          return due === undefined ? first : Math.min(first ?? Infinity, due)
        }, undefined),
      run: (now: number) =>
        Effect.suspend(() => {
          const due = [...purchases.values()].filter((purchase) => (dueOf(purchase) ?? Infinity) <= now)
          const notices = due.flatMap((purchase) => keep(elapse(purchase, { now, scale: scaleOf(purchase.terms) })))
          return Effect.asVoid(background(notices))
        })
    }
  } as const
})

export type Books = Effect.Effect.Success<ReturnType<typeof makeBooks>>
