import { type HttpApp, HttpRouter, HttpServerRequest, HttpServerResponse, UrlParams } from "@effect/platform"
import { Clock, Effect, Schema } from "effect"
import { body, json, listen } from "../SimulatorServer.ts"
import { DirectMessage, Failure, NewAccount } from "./ControlCalls.ts"
import { makePasswordBox } from "./PasswordBox.ts"
import { makeWorld, type SimulatedAccount, type SimulatedThread } from "./World.ts"

/** Ids of people are JSON numbers beyond 2^53 on the wire, as the real platform writes them. */
const ok = (value: object = {}, headers: Record<string, string> = {}) =>
  HttpServerResponse.text(JSON.stringify({ ...value, status: "ok" }).replace(/"(pk|user_id)":"(\d+)"/g, '"$1":$2'), {
    contentType: "application/json",
    headers
  })
const fail = (value: object, status = 400) => HttpServerResponse.unsafeJson({ ...value, status: "fail" }, { status })

const SignedForm = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))

/** Fields of a url-encoded form, taken out of the signed body where there is one. */
const form = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const params = yield* Effect.orDie(request.urlParamsBody)
  const plain: Record<string, unknown> = UrlParams.toRecord(params)
  const signed = plain["signed_body"]
  if (typeof signed !== "string") return plain
  return yield* Effect.orDie(Schema.decode(SignedForm)(signed.slice(signed.indexOf(".") + 1)))
})

/**
 * Stands in for platform_b's private API, for any number of accounts and people. Repeated sends with one
 * `client_context` are one message. Control API under `/_control`.
 */
export const start = Effect.fn("PlatformBSimulator.start")(function* (options: { readonly port: number }) {
  const world = makeWorld()
  const passwords = makePasswordBox()
  const seen: Array<{ readonly method: string; readonly path: string }> = []
  const failures: Array<{ -readonly [Key in keyof typeof Failure.Type]: (typeof Failure.Type)[Key] }> = []

  const loggedIn = (account: SimulatedAccount) =>
    ok(
      { logged_in_user: { pk: account.pk, username: account.username, full_name: account.username } },
      { "ig-set-authorization": world.open(account), "x-ig-set-www-claim": "hmac.simulated" }
    )

  const asAccount = <E, R>(
    use: (account: SimulatedAccount) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) => {
      const account = world.whoHas(headers["authorization"])
      return account === undefined ? Effect.succeed(fail({ message: "login_required" }, 403)) : use(account)
    })

  const threadView = (thread: SimulatedThread, own: string, limit: number, before?: string) => {
    const from = before === undefined ? 0 : thread.items.findIndex(({ item_id }) => item_id === before) + 1
    const items = thread.items.slice(from, from + limit)
    return {
      thread_id: thread.thread_id,
      users: thread.members.filter((pk) => pk !== own).map(world.userOf),
      items,
      is_group: false,
      has_older: thread.items.length > from + limit,
      oldest_cursor: items.at(-1)?.item_id
    }
  }

  const inbox = (pending: boolean) =>
    asAccount(({ pk }) =>
      Effect.sync(() => {
        const own = [...world.threads.values()].filter(
          (thread) => thread.members.includes(pk) && thread.items.length > 0
        )
        const threads = own.filter((thread) => thread.pending === pending).map((thread) => threadView(thread, pk, 10))
        return ok({ inbox: { threads, has_older: false }, seq_id: 1 })
      })
    )

  const login = Effect.gen(function* () {
    const fields = yield* form
    const account = world.accounts.get(String(fields["username"]))
    if (account === undefined) return fail({ error_type: "invalid_user", message: "No such user." })
    const password = passwords.open(String(fields["enc_password"]))
    if (password !== account.password) return fail({ error_type: "bad_password", message: "Incorrect password." })
    if (account.twoFactorCode !== undefined) {
      const info = { two_factor_identifier: `tf-${account.pk}`, totp_two_factor_on: false, sms_two_factor_on: true }
      return fail({ two_factor_required: true, two_factor_info: info, message: "" })
    }
    if (account.challengeCode !== undefined && !account.challengePassed) {
      return fail({
        message: "challenge_required",
        challenge: { api_path: `/challenge/${account.pk}/nonce/`, url: "https://simulated/challenge", lock: true }
      })
    }
    return loggedIn(account)
  })

  const secondFactor = Effect.gen(function* () {
    const fields = yield* form
    const account = world.accounts.get(String(fields["username"]))
    if (account === undefined || fields["verification_code"] !== account.twoFactorCode) {
      return fail({ error_type: "sms_code_validation_code_invalid", message: "Please check the security code." })
    }
    return loggedIn(account)
  })

  const challengedAccount = Effect.map(HttpRouter.params, ({ pk }) =>
    [...world.accounts.values()].find((account) => account.pk === pk)
  )

  const showChallenge = Effect.map(challengedAccount, (account) =>
    account === undefined
      ? fail({ message: "not found" }, 404)
      : ok({ step_name: account.challengeSent ? "verify_code" : "select_verify_method", step_data: { choice: "1" } })
  )

  const answerChallenge = Effect.gen(function* () {
    const account = yield* challengedAccount
    const fields = yield* form
    if (account === undefined) return fail({ message: "not found" }, 404)
    if (fields["choice"] !== undefined) {
      account.challengeSent = true
      return ok({ step_name: "verify_code", step_data: { contact_point: "a***@example.com" } })
    }
    if (fields["security_code"] !== account.challengeCode) {
      return fail({ message: "Please check the code we sent you and try again." })
    }
    account.challengePassed = true
    return loggedIn(account)
  })

  const broadcast = asAccount((account) =>
    Effect.gen(function* () {
      const fields = yield* form
      const context = String(fields["client_context"])
      const now = yield* Clock.currentTimeMillis
      const threadId = /\d+/.exec(String(fields["thread_ids"] ?? ""))?.[0]
      const peer = /\d+/.exec(String(fields["recipient_users"] ?? ""))?.[0]
      const thread =
        threadId === undefined
          ? peer === undefined
            ? undefined
            : world.threadBetween(account.pk, peer)
          : world.threads.get(threadId)
      if (thread === undefined) return fail({ message: "Thread does not exist" }, 404)
      const known = thread.items.find((item) => item.client_context === context)
      const item = known ?? world.write(thread, account.pk, String(fields["text"]), now, { clientContext: context })
      const { item_id, timestamp } = item
      return ok({
        action: "item_ack",
        payload: { item_id, timestamp, thread_id: thread.thread_id, client_context: context }
      })
    })
  )

  const api = HttpRouter.empty.pipe(
    HttpRouter.post(
      "/api/v1/launcher/sync/",
      Effect.sync(() => ok({}, passwords.headers))
    ),
    HttpRouter.post("/api/v1/accounts/login/", login),
    HttpRouter.post("/api/v1/accounts/two_factor_login/", secondFactor),
    HttpRouter.get("/api/v1/challenge/:pk/nonce/", showChallenge),
    HttpRouter.post("/api/v1/challenge/:pk/nonce/", answerChallenge),
    HttpRouter.get("/api/v1/direct_v2/inbox/", inbox(false)),
    HttpRouter.get("/api/v1/direct_v2/pending_inbox/", inbox(true)),
    HttpRouter.get(
      "/api/v1/direct_v2/threads/:id/",
      asAccount(({ pk }) =>
        Effect.gen(function* () {
          const { id = "" } = yield* HttpRouter.params
          const query = yield* HttpServerRequest.ParsedSearchParams
          const thread = world.threads.get(id)
          const before = query["cursor"]
          if (thread === undefined) return fail({ message: "Thread does not exist" }, 404)
          return ok({ thread: threadView(thread, pk, 20, typeof before === "string" ? before : undefined) })
        })
      )
    ),
    HttpRouter.post(
      "/api/v1/direct_v2/threads/:id/approve/",
      asAccount(() =>
        Effect.map(HttpRouter.params, ({ id = "" }) => {
          const thread = world.threads.get(id)
          if (thread === undefined) return fail({ message: "Thread does not exist" }, 404)
          thread.pending = false
          return ok()
        })
      )
    ),
    HttpRouter.post("/api/v1/direct_v2/threads/broadcast/text/", broadcast),
    HttpRouter.get(
      "/api/v1/users/:name/usernameinfo/",
      asAccount(() =>
        Effect.map(HttpRouter.params, ({ name = "" }) => {
          const pk = world.people.get(name) ?? world.accounts.get(name)?.pk
          return pk === undefined ? fail({ message: "User not found" }, 404) : ok({ user: { pk, username: name } })
        })
      )
    )
  )

  const control = HttpRouter.empty.pipe(
    HttpRouter.post(
      "/_control/accounts",
      Effect.map(body(NewAccount), ({ challenge_code, password, two_factor_code, username }) => {
        const pk = world.nextId()
        const progress = { challengeSent: false, challengePassed: false }
        world.accounts.set(username, {
          pk,
          username,
          password,
          twoFactorCode: two_factor_code,
          challengeCode: challenge_code,
          ...progress
        })
        return json({ pk, username })
      })
    ),
    HttpRouter.post(
      "/_control/people",
      Effect.map(body(Schema.Struct({ username: Schema.NonEmptyString })), ({ username }) =>
        json({ username, pk: world.personPk(username) })
      )
    ),
    HttpRouter.post(
      "/_control/messages",
      Effect.gen(function* () {
        const { from, request, text, to, type } = yield* body(DirectMessage)
        const account = world.accounts.get(to) ?? world.accounts.get(from)
        if (account === undefined) return json({ message: "Neither side is an account." }, 404)
        const other = account.username === to ? from : to
        const thread = world.threadBetween(account.pk, world.personPk(other))
        if (request) thread.pending = true
        const author = account.username === from ? account.pk : world.personPk(from)
        const item = world.write(
          thread,
          author,
          text,
          yield* Clock.currentTimeMillis,
          type === undefined ? {} : { type }
        )
        return json({ thread_id: thread.thread_id, item })
      })
    ),
    HttpRouter.get(
      "/_control/threads",
      Effect.sync(() =>
        json(
          [...world.threads.values()].map(({ items, members, pending, thread_id }) => ({
            thread_id,
            pending,
            members: members.map((pk) => world.userOf(pk).username),
            items: items.map((item) => ({ ...item, from: world.userOf(item.user_id).username })).reverse()
          }))
        )
      )
    ),
    HttpRouter.post(
      "/_control/failures",
      Effect.map(body(Failure), (failure) => {
        failures.push({ ...failure })
        return json(failure)
      })
    ),
    HttpRouter.post(
      "/_control/sessions/close",
      Effect.sync(() => (world.closeAll(), json({ closed: true })))
    ),
    HttpRouter.get(
      "/_control/requests",
      Effect.sync(() => json(seen))
    )
  )

  const scripted = <E, R>(app: HttpApp.Default<E, R>): HttpApp.Default<E, R> =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      const path = request.url.split("?", 1)[0] ?? ""
      if (path.startsWith("/_control")) return app
      seen.push({ method: request.method, path })
      const failure = failures.find((candidate) => candidate.times > 0 && path.includes(candidate.path))
      if (failure === undefined) return app
      failure.times -= 1
      const answer = HttpServerResponse.unsafeJson(failure.body, { status: failure.status })
      if (failure.kind === "hang") return Effect.never
      return failure.kind === "answer_after_effect" ? Effect.as(app, answer) : Effect.succeed(answer)
    })

  return yield* listen(scripted(HttpRouter.concat(control, api)), options.port)
})
