import { Array, Effect, Option, Schema } from "effect"
import { isTooLong } from "../domain/TextLimit.ts"
import type { PlatformFailure, SentMessage, Session } from "../Platform.ts"
import { failure } from "./Failures.ts"
import { Id, perhaps, readable } from "./Fields.ts"
import * as Inbox from "./Inbox.ts"
import { type Line, type PrivateApi, shaped } from "./PrivateApi.ts"
import { chatIdOf, timeOf } from "./SeenItems.ts"
import { unseal } from "./SessionState.ts"
import * as Threads from "./Threads.ts"

const Written = Schema.Struct({ item_id: Id, timestamp: Inbox.Item.fields.timestamp, thread_id: Id })
const Ack = Schema.Struct({ payload: perhaps(Written), message_metadata: perhaps(readable(Written)) })
const UserInfo = Schema.Struct({ user: Schema.Struct({ pk: Id }) })

/** Ids and names go into paths: only what cannot leave its place. */
const threadIdIn = (chatId: string) => Option.fromNullable(/^pb:(\d{1,64})$/.exec(chatId)?.[1])
const usernameIn = (chatId: string) => Option.fromNullable(/^pbuser:(\w{1,30}(?:\.\w{1,30})*)$/.exec(chatId)?.[1])

const pagesSearched = 3

const sent = ({ item_id, thread_id, timestamp }: typeof Written.Type): SentMessage => ({
  chatId: chatIdOf(thread_id),
  platformMessageId: item_id,
  timestamp: timeOf({ timestamp })
})

const unknownUser = () => failure("unknown_user", "the platform knows no such user")

const userId = (line: Line, username: string) =>
  line.call({ method: "GET", path: `/api/v1/users/${username}/usernameinfo/` }).pipe(
    Effect.mapError((error) => (error.reason === "not_found" ? unknownUser() : error)),
    Effect.flatMap(shaped(UserInfo))
  )

const target = Effect.fnUntraced(function* (line: Line, to: string) {
  const threadId = threadIdIn(to)
  if (Option.isSome(threadId)) return { thread_ids: `[${threadId.value}]` }
  const username = usernameIn(to)
  if (Option.isNone(username)) return yield* failure("unknown_user", "neither pb:<thread_id> nor pbuser:<username>")
  const { user } = yield* userId(line, username.value)
  return { recipient_users: `[[${user.pk}]]` }
})

export const makeSend = (api: PrivateApi) =>
  Effect.fnUntraced(function* (
    session: Session,
    message: { readonly to: string; readonly body: string; readonly clientId: string }
  ) {
    if (isTooLong(message)) return yield* failure("text_too_long", "longer than the platform takes")
    const state = yield* unseal(session)
    const line = yield* api.open(state)
    const reply = yield* line.call({
      method: "POST",
      path: "/api/v1/direct_v2/threads/broadcast/text/",
      form: {
        action: "send_item",
        ...(yield* target(line, message.to)),
        text: message.body,
        client_context: message.clientId,
        mutation_token: message.clientId,
        offline_threading_id: message.clientId,
        device_id: state.deviceId,
        _uuid: state.guid
      }
    })
    const ack = yield* shaped(Ack)(reply)
    const written = Option.orElse(ack.payload, () => Option.flatMap(ack.message_metadata, Array.head))
    return sent(
      yield* Effect.mapError(written, () =>
        failure("unavailable", "the platform did not say what became of the message")
      )
    )
  })

const sentIn = (threads: ReadonlyArray<Inbox.Thread>, clientId: string): Option.Option<SentMessage> =>
  Array.head(
    threads.flatMap(({ items, thread_id }) =>
      items
        .filter(({ client_context }) => Option.contains(client_context, clientId))
        .map(({ item_id, timestamp }) => sent({ item_id, timestamp, thread_id }))
    )
  )

/** Looks at the newest 60 items of the thread; for a name, at the inbox, where a chat that it opened is among the first. */
export const makeFindSent = (api: PrivateApi) =>
  Effect.fn("PlatformBDriver.findSent")(function* (
    session: Session,
    message: { readonly chatId: string; readonly clientId: string }
  ): Effect.fn.Return<Option.Option<SentMessage>, PlatformFailure> {
    const line = yield* api.open(yield* unseal(session))
    const threadId = threadIdIn(message.chatId)
    if (Option.isNone(threadId)) {
      const { inbox } = yield* Threads.page(line, "inbox")
      return sentIn(inbox.threads, message.clientId)
    }
    let older: Option.Option<Readonly<Record<string, string>>> = Option.some({})
    for (let page = 0; page < pagesSearched && Option.isSome(older); page++) {
      const thread: Inbox.Thread = yield* Threads.thread(line, threadId.value, older.value)
      const found = sentIn([thread], message.clientId)
      if (Option.isSome(found)) return found
      older = Inbox.olderThan(thread)
    }
    return Option.none()
  })
