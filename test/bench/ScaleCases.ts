import type { World } from "./ScaleBench.ts"

/** One thing that is asked of both databases, and how much slower the large one may answer. */
export interface Case {
  readonly name: string
  readonly path: (of: World, round: number) => string
  /** At the hundredth page. */
  readonly isDeep: boolean
  /** About another customer each round. */
  readonly isPersonal: boolean
  /** With the app's public key. */
  readonly isPublic: boolean
  readonly rounds: number
  /** The median of the large database over that of the small one. */
  readonly growth: number
  /** Milliseconds. */
  readonly atMost: number
}

const day = 86_400_000
const daysAgo = (days: number) => new Date(Date.now() - days * day).toISOString().slice(0, 10)

const plain = { isDeep: false, isPersonal: false, isPublic: false, rounds: 40, growth: 2, atMost: Infinity }

/** The first page of a list and the hundredth. */
const list = (name: string, query = ""): ReadonlyArray<Case> => {
  const path = ({ app, webhook }: World) => `/apps/${app}/${name}?limit=100${query.replace("$webhook", webhook)}`
  const title = `${name}${query.replace("&", "?")}`
  return [
    { ...plain, name: `${title}, first page`, path },
    { ...plain, name: `${title}, hundredth page`, path, isDeep: true }
  ]
}

const personal = (name: string, path: (of: World, person: string) => string): Case => ({
  ...plain,
  name,
  path: (of, round) => path(of, of.people[round % of.people.length] ?? ""),
  isPersonal: true
})

const stats = (days: number): Case => ({
  ...plain,
  name: `stats of ${days} days`,
  path: ({ app }) => `/apps/${app}/stats?from=${daysAgo(days - 1)}&to=${daysAgo(0)}`,
  rounds: 9,
  growth: 10,
  atMost: 1000
})

export const cases: ReadonlyArray<Case> = [
  ...list("customers"),
  ...list("customers", "&search=a"),
  personal("customers?search=(one of them)", ({ app }, person) => `/apps/${app}/customers?limit=100&search=${person}`),
  ...list("subscriptions"),
  ...list("subscriptions", "&status=active"),
  ...list("subscriptions", "&status=on_hold"),
  ...list("subscriptions", "&product_identifier=pro.yearly&environment=sandbox"),
  personal("subscriptions of a customer", ({ app }, person) => `/apps/${app}/subscriptions?app_user_id=${person}`),
  ...list("transactions"),
  ...list("transactions", "&store=store_b"),
  ...list("transactions", "&environment=sandbox&product_identifier=lite.monthly"),
  ...list("transactions", `&from=${daysAgo(60)}&to=${daysAgo(30)}`),
  ...list("transactions", `&from=${daysAgo(400)}&to=${daysAgo(370)}`),
  personal("transactions of a customer", ({ app }, person) => `/apps/${app}/transactions?app_user_id=${person}`),
  ...list("events"),
  ...list("events", "&type=subscription.refunded"),
  ...list("events", `&from=${daysAgo(60)}&to=${daysAgo(30)}`),
  personal("events of a customer", ({ app }, person) => `/apps/${app}/events?limit=100&app_user_id=${person}`),
  ...list("webhook-deliveries"),
  ...list("webhook-deliveries", "&webhook_id=$webhook"),
  ...list("webhook-deliveries", "&event=subscription.refunded"),
  ...list("webhook-deliveries", "&event=customer.deleted"),
  ...list("webhook-deliveries", "&state=exhausted"),
  ...list("webhook-deliveries", "&state=failed"),
  ...list("webhook-deliveries", "&state=canceled"),
  ...list("store-notifications"),
  ...list("store-notifications", "&state=pending"),
  ...list("store-notifications", "&state=ignored"),
  ...list("products"),
  personal("history of a customer", ({ app }, person) => `/apps/${app}/customers/${person}/history?limit=100`),
  personal("one customer", ({ app }, person) => `/apps/${app}/customers/${person}`),
  { ...personal("subscriber read", (_, person) => `/client/subscribers/${person}`), isPublic: true },
  stats(28),
  stats(365)
]
