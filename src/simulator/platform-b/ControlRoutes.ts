import { HttpRouter, HttpServerRequest } from "@effect/platform"
import { Array, Clock, Effect, Schema } from "effect"
import { body, json } from "../SimulatorServer.ts"
import type { Switches } from "./DirectRoutes.ts"
import { Failure, type Script } from "../Script.ts"
import { sessionIn, type SimulatedThread, type World } from "./World.ts"

const NewAccount = Schema.Struct({
  username: Schema.NonEmptyString,
  password: Schema.NonEmptyString,
  two_factor_code: Schema.optional(Schema.String),
  challenge_code: Schema.optional(Schema.String),
  challenge_step: Schema.optionalWith(Schema.String, { default: () => "select_verify_method" }),
  challenge_signs_in: Schema.optionalWith(Schema.Boolean, { default: () => true })
})
const AccountChange = Schema.Struct({
  condition: Schema.optional(
    Schema.Literal("well", "banned", "challenged", "logged_out", "rate_limited", "blocked", "outdated", "away")
  ),
  password: Schema.optional(Schema.NonEmptyString),
  two_factor_code: Schema.optional(Schema.NullOr(Schema.String)),
  challenge_code: Schema.optional(Schema.NullOr(Schema.String))
})
const Crowd = Schema.Struct({ accounts: Schema.Int, threads: Schema.Int, items: Schema.Int })
const plainAccount = {
  twoFactorCode: undefined,
  challengeCode: undefined,
  challengeStep: "select_verify_method",
  challengeSignsIn: true,
  challengePassed: false,
  isCodeSent: false,
  condition: "well"
} as const
const NewPerson = Schema.Struct({ username: Schema.NonEmptyString })
const NewGroup = Schema.Struct({ title: Schema.NonEmptyString, members: Schema.Array(Schema.NonEmptyString) })

/** `to` an account or a person, or into a thread; one side of a direct message must be an account. */
const NewMessage = Schema.Struct({
  from: Schema.NonEmptyString,
  to: Schema.optional(Schema.NonEmptyString),
  thread_id: Schema.optional(Schema.String),
  text: Schema.optional(Schema.String),
  type: Schema.optional(Schema.String),
  client_context: Schema.optional(Schema.String),
  timestamp: Schema.optional(Schema.String),
  fields: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
  request: Schema.optionalWith(Schema.Boolean, { default: () => false })
})

/** The simulator's own API, under `/_control`. */
export const makeControlRoutes = (world: World, script: Script, switches: Switches) => {
  const threadView = ({ items, members, pendingFor, thread_id, title }: SimulatedThread) => ({
    thread_id,
    title: title ?? null,
    pending: pendingFor.size > 0,
    members: members.map((pk) => world.userOf(pk).username),
    items: items.map((item) => ({ ...item, from: world.userOf(item.user_id).username })).reverse()
  })

  const addAccount = Effect.map(body(NewAccount), (account) => {
    const { pk, username } = world.addAccount({
      ...plainAccount,
      username: account.username,
      password: account.password,
      twoFactorCode: account.two_factor_code,
      challengeCode: account.challenge_code,
      challengeStep: account.challenge_step,
      challengeSignsIn: account.challenge_signs_in
    })
    return json({ pk, username })
  })

  const changeAccount = Effect.gen(function* () {
    const { username = "" } = yield* HttpRouter.params
    const account = world.accounts.get(username)
    if (account === undefined) return json({ message: "No such account." }, 404)
    const { challenge_code, condition, password, two_factor_code } = yield* body(AccountChange)
    account.password = password ?? account.password
    account.twoFactorCode = two_factor_code === undefined ? account.twoFactorCode : (two_factor_code ?? undefined)
    account.challengeCode = challenge_code === undefined ? account.challengeCode : (challenge_code ?? undefined)
    account.condition = condition ?? account.condition
    if (condition === "challenged") Object.assign(account, { challengePassed: false, isCodeSent: false })
    return json({ username, condition: account.condition })
  })

  /** Many accounts that are signed in already, each with chats of its own: for measuring. */
  const seed = Effect.gen(function* () {
    const { accounts, items, threads } = yield* body(Crowd)
    const now = yield* Clock.currentTimeMillis
    const before = world.accounts.size
    const seeded = Array.makeBy(accounts, (index) => {
      const nth = before + index
      const account = world.addAccount({ ...plainAccount, username: `seeded${nth}`, password: "none" })
      for (let thread = 0; thread < threads; thread++) {
        const peer = world.personPk(`person${nth}.${thread}`)
        const opened = world.open([account.pk, peer])
        for (let item = 0; item < items; item++) world.write(opened, peer, now, { text: `message ${item}` })
      }
      return { username: account.username, pk: account.pk, authorization: world.signIn(account) }
    })
    return json(seeded)
  })

  const threadFor = ({ from, thread_id, to }: typeof NewMessage.Type) => {
    if (thread_id !== undefined) return world.threads.get(thread_id)
    if (to === undefined || !(world.accounts.has(from) || world.accounts.has(to))) return undefined
    return world.threadBetween(world.personPk(from), world.personPk(to))
  }

  const addMessage = Effect.gen(function* () {
    const message = yield* body(NewMessage)
    const thread = threadFor(message)
    if (thread === undefined) return json({ message: "Name a thread, or two sides of which one is an account." }, 404)
    const author = world.personPk(message.from)
    if (message.request) thread.members.filter((pk) => pk !== author).forEach((pk) => thread.pendingFor.add(pk))
    const item = world.write(thread, author, yield* Clock.currentTimeMillis, {
      text: message.text,
      type: message.type,
      clientContext: message.client_context,
      timestamp: message.timestamp,
      fields: message.fields
    })
    return json({ thread_id: thread.thread_id, item })
  })

  const listThreads = Effect.map(HttpServerRequest.ParsedSearchParams, (query) => {
    const all = [...world.threads.values()].map(threadView)
    const name = query["with"]
    return json(typeof name === "string" ? all.filter(({ members }) => members.includes(name)) : all)
  })

  return HttpRouter.empty.pipe(
    HttpRouter.post("/accounts", addAccount),
    HttpRouter.patch("/accounts/:username", changeAccount),
    HttpRouter.post("/crowd", seed),
    HttpRouter.post(
      "/sessions",
      Effect.map(body(NewPerson), ({ username }) => {
        const account = world.accounts.get(username)
        if (account === undefined) return json({ message: "There is no such account." }, 404)
        const authorization = world.signIn(account)
        return json({ authorization, sessionid: sessionIn(authorization) })
      })
    ),
    HttpRouter.post(
      "/people",
      Effect.map(body(NewPerson), ({ username }) => json({ username, pk: world.personPk(username) }))
    ),
    HttpRouter.post(
      "/groups",
      Effect.map(body(NewGroup), ({ members, title }) =>
        json(threadView(world.open(members.map(world.personPk), title)))
      )
    ),
    HttpRouter.post("/messages", addMessage),
    HttpRouter.get("/threads", listThreads),
    HttpRouter.post(
      "/failures",
      Effect.map(body(Failure), (failure) => (script.add(failure), json(failure)))
    ),
    HttpRouter.post(
      "/settings",
      Effect.map(body(Schema.Struct({ deduplicates: Schema.Boolean })), ({ deduplicates }) => {
        switches.deduplicates = deduplicates
        return json(switches)
      })
    ),
    HttpRouter.post(
      "/sessions/close",
      Effect.sync(() => (world.closeAll(), json({ closed: true })))
    ),
    HttpRouter.get(
      "/requests",
      Effect.sync(() => json(script.calls))
    ),
    HttpRouter.del(
      "/requests",
      Effect.sync(() => (script.clear(), json({ cleared: true })))
    )
  )
}
