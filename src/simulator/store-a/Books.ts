import { randomUUID } from "node:crypto"
import { Effect, Either, Option } from "effect"
import { ControlRefused } from "../Control.ts"
import type { makeCourier, Receiver } from "../Courier.ts"
import type { StoreClock } from "../StoreClock.ts"
import { decide, type Deed } from "./Deed.ts"
import { dueOf, elapse } from "./Life.ts"
import { notificationData, renewalPayload, transactionPayload } from "./Payloads.ts"
import { bought, chainId } from "./Period.ts"
import { type Moment, type Notice, type Outcome, type Purchase, renews, shown } from "./Purchase.ts"
import type { SigningAuthority } from "./SigningAuthority.ts"
import type { NewPurchase } from "./Terms.ts"

/** A notification as it was signed: what every attempt sends, and what the history tells. */
export interface Letter {
  readonly notificationType: string
  readonly subtype: string | undefined
  readonly notificationUUID: string
  readonly bundleId: string
  readonly environment: NewPurchase["environment"]
  readonly transactionId: string | undefined
  readonly signedDate: number
  readonly signedPayload: string
  readonly url: string | undefined
}

/** A purchase of another app, as a store that mixes things up would tell of it. */
export const ofAnotherApp = (purchase: Purchase): Purchase => ({
  ...purchase,
  terms: { ...purchase.terms, bundle_id: "com.example.another-app" }
})

/** What a family member's purchase does when that of the one who pays does something. */
const followed: { readonly [tag: string]: (deed: Deed) => Deed } = {
  cancel: (deed) => deed,
  uncancel: (deed) => deed,
  expire: (deed) => deed,
  failBilling: (deed) => deed,
  setPayment: (deed) => deed,
  renew: (deed) => deed,
  refund: () => ({ _tag: "revoke" })
}

/** Everything that store A has sold and told, and the time that passes over it. */
export const makeBooks = Effect.fn("Books.make")(function* (parts: {
  readonly clock: StoreClock
  readonly authority: SigningAuthority
  readonly courier: Effect.Effect.Success<ReturnType<typeof makeCourier<Letter>>>
  readonly notificationUrl: Option.Option<string>
}) {
  const { authority, clock, courier } = parts
  const scope = yield* Effect.scope
  const purchases = new Map<string, Purchase>()
  const letters: Array<Letter> = []
  let chains = 0
  let lastSigned = 0

  /** No two statements are signed at the same moment, so that their order is never in doubt. */
  const signingTime = Effect.map(clock.now, (now) => {
    lastSigned = Math.max(lastSigned + 1, now)
    return lastSigned
  })

  const momentOf = (terms: NewPurchase): Effect.Effect<Moment> =>
    Effect.map(clock.now, (now) => ({ now, scale: terms.seconds_per_month ?? clock.scale() }))

  const sign = Effect.fn("Books.sign")(function* (notice: Notice) {
    const purchase = courier.mode().another_app ? ofAnotherApp(notice.purchase) : notice.purchase
    const signedDate = yield* signingTime
    const transaction = purchase.transactions.find(({ transactionId }) => transactionId === notice.transactionId)
    const notificationUUID = randomUUID()
    const signedPayload = yield* authority.sign({
      notificationType: notice.type,
      ...(notice.subtype === undefined ? {} : { subtype: notice.subtype }),
      notificationUUID,
      version: "2.0",
      signedDate,
      data: {
        ...notificationData({ ...notice, purchase }),
        signedTransactionInfo: yield* authority.sign(transactionPayload(purchase, signedDate, transaction)),
        ...(renews(purchase) ? { signedRenewalInfo: yield* authority.sign(renewalPayload(purchase, signedDate)) } : {})
      }
    })
    const letter: Letter = {
      notificationType: notice.type,
      subtype: notice.subtype,
      notificationUUID,
      bundleId: notice.purchase.terms.bundle_id,
      environment: purchase.terms.environment,
      transactionId: notice.transactionId,
      signedDate,
      signedPayload,
      url: purchase.terms.notification_url ?? Option.getOrUndefined(parts.notificationUrl)
    }
    letters.push(letter)
    return letter
  })

  /** Signs all, then sends one after the other; answers with the last. */
  const tell = Effect.fn("Books.tell")(function* (notices: ReadonlyArray<Notice>) {
    const signed = yield* Effect.forEach(notices, sign)
    const receivers = yield* Effect.forEach(signed, courier.send)
    return { notification: signed.at(-1) ?? null, receiver: receivers.at(-1) ?? null }
  })

  const keep = ({ notices, purchase }: Outcome) => {
    purchases.set(purchase.originalTransactionId, purchase)
    return notices
  }

  const answer = (
    id: string,
    outcome: { readonly notification: Letter | null; readonly receiver: Receiver | null }
  ) => {
    const purchase = purchases.get(id)
    return { purchase: purchase === undefined ? null : shown(purchase), ...outcome }
  }

  /** Brings a purchase up to date, telling in the background what happened to it by itself. */
  const upToDate = Effect.fn("Books.upToDate")(function* (id: string) {
    const known = purchases.get(id)
    if (known === undefined) return yield* new ControlRefused({ status: 404, message: "No such purchase." })
    const moment = yield* momentOf(known.terms)
    const outcome = elapse(known, moment)
    const notices = keep(outcome)
    if (notices.length > 0) yield* Effect.forkIn(tell(notices), scope)
    return { purchase: outcome.purchase, moment }
  })

  const deed = Effect.fn("Books.deed")(function* (id: string, what: (purchase: Purchase) => Deed) {
    const { moment, purchase } = yield* upToDate(id)
    const done = what(purchase)
    const decision = decide(purchase, done, moment)
    if (Either.isLeft(decision)) {
      return yield* new ControlRefused({ status: 409, message: decision.left.reason, state: shown(purchase) })
    }
    const notices = keep(decision.right)
    const follow = followed[done._tag]
    const family = [...purchases.values()].filter(({ sharedBy }) => sharedBy === id && follow !== undefined)
    const echoes = family.flatMap((member) => {
      const outcome = elapse(member, moment)
      const answered = follow === undefined ? undefined : decide(outcome.purchase, follow(done), moment)
      const said = keep(outcome)
      return answered !== undefined && Either.isRight(answered) ? [...said, ...keep(answered.right)] : said
    })
    const told = yield* tell(notices)
    yield* tell(echoes)
    return answer(id, told)
  })

  const begin = Effect.fn("Books.begin")(function* (terms: NewPurchase, sharedBy?: string) {
    chains += 1
    const id = chainId(chains)
    return answer(id, yield* tell(keep(bought(terms, id, yield* momentOf(terms), sharedBy))))
  })

  const ofApp = (bundleId: string, environment: NewPurchase["environment"]) =>
    [...purchases.values()].filter(({ terms }) => terms.bundle_id === bundleId && terms.environment === environment)

  return {
    purchases,
    letters,
    signingTime,
    ofApp,
    deed,
    buy: (terms: NewPurchase) => begin(terms),
    /** A purchase as it is now, and all of its customer's: one account token is one customer. */
    find: Effect.fn("Books.find")(function* (id: string) {
      const known = purchases.get(id)
      return known === undefined ? undefined : elapse(known, yield* momentOf(known.terms)).purchase
    }),
    share: Effect.fn("Books.share")(function* (id: string, accountToken: string | undefined) {
      const { purchase } = yield* upToDate(id)
      if (purchase.status !== 1 || purchase.sharedBy !== undefined || purchase.terms.type === "Consumable") {
        return yield* new ControlRefused({
          status: 409,
          message: "only what a customer paid for and still has is shared with the family",
          state: shown(purchase)
        })
      }
      return yield* begin({ ...purchase.terms, app_account_token: accountToken, trial: false, offer: undefined }, id)
    }),
    /** A `TEST` notification; none where nobody named an address. */
    test: Effect.fn("Books.test")(function* (bundleId: string, environment: NewPurchase["environment"]) {
      const named = [...purchases.values()].find(
        ({ terms }) => terms.bundle_id === bundleId && terms.notification_url !== undefined
      )
      const url = named?.terms.notification_url ?? Option.getOrUndefined(parts.notificationUrl)
      if (url === undefined) return Option.none<string>()
      const signedDate = yield* signingTime
      const notificationUUID = randomUUID()
      const type = { notificationType: "TEST", notificationUUID }
      const data = { environment, bundleId, bundleVersion: "1" }
      const signedPayload = yield* authority.sign({ ...type, version: "2.0", signedDate, data })
      const place = { bundleId, environment, signedDate, signedPayload, url }
      const letter: Letter = { ...type, ...place, subtype: undefined, transactionId: undefined }
      letters.push(letter)
      yield* courier.send(letter)
      return Option.some(notificationUUID)
    }),
    work: {
      due: () =>
        [...purchases.values()].reduce<number | undefined>((first, purchase) => {
          const due = dueOf(purchase)
          return due === undefined ? first : Math.min(first ?? Infinity, due)
        }, undefined),
      run: (now: number) =>
        Effect.gen(function* () {
          const due = [...purchases.values()].filter((purchase) => (dueOf(purchase) ?? Infinity) <= now)
          const notices = due.flatMap((purchase) =>
            keep(elapse(purchase, { now, scale: purchase.terms.seconds_per_month ?? clock.scale() }))
          )
          if (notices.length > 0) yield* Effect.forkIn(tell(notices), scope)
        })
    }
  } as const
})

export type Books = Effect.Effect.Success<ReturnType<typeof makeBooks>>
