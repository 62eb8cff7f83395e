import { DateTime, Effect, Layer, Option, Order, Schema } from "effect"
import { PlatformB, type PlatformFailure, type SentMessage, type Session } from "../Platform.ts"
import { failure } from "./Failures.ts"
import * as Inbox from "./Inbox.ts"
import { makeLogin } from "./Login.ts"
import { defaults, type PlatformBConfig } from "./PlatformBConfig.ts"
import { makePrivateApi, shaped } from "./PrivateApi.ts"
import { fresh, seal, type SessionState, unseal } from "./SessionState.ts"

const listed = {
  visual_message_return_type: "unseen",
  thread_message_limit: "10",
  persistentBadging: "true",
  limit: "20"
}
const pagesOfOneThread = 5

const cursorText = Schema.encodeSync(Inbox.Cursor)

const Ack = Schema.Struct({
  payload: Schema.Struct({ item_id: Schema.String, timestamp: Schema.String, thread_id: Schema.String })
})
const UserInfo = Schema.Struct({
  user: Schema.Struct({ pk: Schema.Union(Schema.String, Schema.Number), username: Schema.String })
})

const byTime = Order.mapInput(DateTime.Order, ({ timestamp }: { readonly timestamp: DateTime.Utc }) => timestamp)

/**
 * platform_b is Instagram: direct messages through the private API of its mobile app, which is unofficial, changes without
 * notice and may restrict accounts that automate. Big integers stay text; constants are configuration.
 */
export const layer = (overrides: Partial<PlatformBConfig> = {}) =>
  Layer.effect(
    PlatformB,
    Effect.gen(function* () {
      const api = yield* makePrivateApi({ ...defaults, ...overrides })
      const login = makeLogin(api)

      const threadsOf = Effect.fn("PlatformBDriver.threadsOf")(function* (state: SessionState) {
        const inbox = yield* api.call(state, { method: "GET", path: "/api/v1/direct_v2/inbox/", query: listed })
        const pending = yield* api.call(inbox.state, {
          method: "GET",
          path: "/api/v1/direct_v2/pending_inbox/",
          query: listed
        })
        const { inbox: open } = yield* shaped(Inbox.InboxBody)(inbox)
        const { inbox: requests } = yield* shaped(Inbox.InboxBody)(pending)
        return { state: pending.state, open: open.threads, requests: requests.threads }
      })

      const threadById = Effect.fn("PlatformBDriver.threadById")(function* (
        state: SessionState,
        id: string,
        query: Readonly<Record<string, string>>
      ) {
        const reply = yield* api.call(state, { method: "GET", path: `/api/v1/direct_v2/threads/${id}/`, query })
        return (yield* shaped(Inbox.ThreadBody)(reply)).thread
      })

      const complete = Effect.fn("PlatformBDriver.complete")(function* (
        state: SessionState,
        cursor: Inbox.Cursor,
        listedThread: Inbox.Thread
      ) {
        let thread = listedThread
        for (let page = 0; page < pagesOfOneThread && Inbox.mayHideNewItems(cursor, thread); page++) {
          const query = { cursor: thread.oldest_cursor ?? "", direction: "older", limit: "20" }
          const older = yield* threadById(state, thread.thread_id, query)
          const known = new Set(thread.items.map(({ item_id }) => item_id))
          const items = [...thread.items, ...older.items.filter(({ item_id }) => !known.has(item_id))]
          thread = { ...older, items, has_older: older.has_older ?? false }
        }
        return thread
      })

      const poll = Effect.fn("PlatformBDriver.poll")(function* (session: Session, known: Option.Option<string>) {
        const before = yield* unseal(session)
        const { open, requests, state } = yield* threadsOf(before)
        const cursor = Option.flatMap(known, Schema.decodeOption(Inbox.Cursor))
        if (Option.isNone(cursor)) {
          const baseline = cursorText(Inbox.baselineOf([...open, ...requests]))
          return { session: seal(state), cursor: baseline, messages: [] }
        }
        const isNews = (thread: Inbox.Thread) => thread.items.some((item) => Inbox.isNew(cursor.value, thread, item))
        const asking = requests.filter(isNews)
        yield* Effect.forEach(asking, ({ thread_id }) =>
          api.call(state, {
            method: "POST",
            path: `/api/v1/direct_v2/threads/${thread_id}/approve/`,
            form: { _uuid: state.guid }
          })
        )
        const threads = yield* Effect.forEach([...open, ...asking].filter(isNews), (thread) =>
          complete(state, cursor.value, thread)
        )
        const own = { id: state.userId ?? "", username: state.username ?? "" }
        const messages = threads
          .flatMap((thread) =>
            Inbox.seenOf(
              thread,
              thread.items.filter((item) => Inbox.isNew(cursor.value, thread, item)),
              own
            )
          )
          .sort(byTime)
        const next = cursorText(Inbox.advance(cursor.value, threads))
        return { session: seal(state), cursor: next, messages }
      })

      const target = Effect.fn("PlatformBDriver.target")(function* (state: SessionState, to: string) {
        if (to.startsWith("pb:")) return { thread_ids: `[${to.slice("pb:".length)}]` }
        if (!to.startsWith("pbuser:"))
          return yield* failure("unknown_user", "neither pb:<thread_id> nor pbuser:<username>")
        const name = encodeURIComponent(to.slice("pbuser:".length))
        const reply = yield* api
          .call(state, { method: "GET", path: `/api/v1/users/${name}/usernameinfo/` })
          .pipe(
            Effect.mapError((error) =>
              error.reason === "not_found" ? failure("unknown_user", "the platform knows no such user") : error
            )
          )
        const { user } = yield* shaped(UserInfo)(reply)
        return { recipient_users: `[[${user.pk}]]` }
      })

      const send = Effect.fn("PlatformBDriver.send")(function* (
        session: Session,
        message: { readonly to: string; readonly body: string; readonly clientId: string }
      ) {
        const state = yield* unseal(session)
        const reply = yield* api.call(state, {
          method: "POST",
          path: "/api/v1/direct_v2/threads/broadcast/text/",
          form: {
            action: "send_item",
            ...(yield* target(state, message.to)),
            text: message.body,
            client_context: message.clientId,
            mutation_token: message.clientId,
            offline_threading_id: message.clientId,
            device_id: state.deviceId,
            _uuid: state.guid
          }
        })
        const { payload } = yield* shaped(Ack)(reply)
        return {
          chatId: Inbox.chatIdOf(payload.thread_id),
          platformMessageId: payload.item_id,
          timestamp: DateTime.unsafeMake(Math.floor(Number(payload.timestamp) / 1000))
        } satisfies SentMessage
      })

      const sentIn = (threads: ReadonlyArray<Inbox.Thread>, clientId: string): Option.Option<SentMessage> =>
        Option.fromNullable(
          threads
            .flatMap((thread) => thread.items.map((item) => ({ thread, item })))
            .filter(({ item }) => item.client_context === clientId)
            .map(({ item, thread }) => ({
              chatId: Inbox.chatIdOf(thread.thread_id),
              platformMessageId: item.item_id,
              timestamp: DateTime.unsafeMake(Math.floor(Inbox.micros(item) / 1000))
            }))[0]
        )

      const findSent = Effect.fn("PlatformBDriver.findSent")(function* (
        session: Session,
        message: { readonly chatId: string; readonly clientId: string }
      ): Effect.fn.Return<Option.Option<SentMessage>, PlatformFailure> {
        const state = yield* unseal(session)
        if (!message.chatId.startsWith("pb:")) return sentIn((yield* threadsOf(state)).open, message.clientId)
        const id = message.chatId.slice("pb:".length)
        const thread = yield* threadById(state, id, { limit: "20" })
        return sentIn([thread], message.clientId)
      })

      return PlatformB.of({
        login: ({ credentials, pending, verificationCode }) =>
          Effect.gen(function* () {
            const state = Option.isSome(pending) ? yield* unseal(pending.value) : yield* fresh
            return yield* Option.match(verificationCode, {
              onNone: () => login.start({ ...state, authorization: null, pending: null }, credentials),
              onSome: (code) => login.secondFactor(state, credentials.username, code)
            })
          }),
        answerChallenge: ({ code, credentials, pending }) =>
          Effect.flatMap(unseal(pending), (state) => login.answerChallenge(state, credentials, code)),
        poll,
        send,
        findSent
      })
    })
  )
