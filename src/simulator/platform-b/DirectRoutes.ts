import { HttpRouter, HttpServerRequest } from "@effect/platform"
import { Clock, Effect } from "effect"
import { asAccount } from "./SignedIn.ts"
import { answerToSending } from "./Trouble.ts"
import { fail, form, noThread, ok } from "./Wire.ts"
import type { SimulatedThread, World } from "./World.ts"

/** Characters that the platform takes in one message. */
const longest = 1000

/** Switches that the control API turns. */
export interface Switches {
  /** Whether repeated sends with one `client_context` are one message, as the real platform is believed to do. */
  deduplicates: boolean
}

const single = (value: string | ReadonlyArray<string> | undefined) => (typeof value === "string" ? value : undefined)

/** Elements after the one that the cursor names, and where the next page begins. */
const pageOf = <A>(all: ReadonlyArray<A>, idOf: (one: A) => string, limit: number, cursor: string | undefined) => {
  const from = cursor === undefined ? 0 : all.findIndex((one) => idOf(one) === cursor) + 1
  const page = all.slice(from, from + limit)
  const oldest = page.at(-1)
  return {
    page,
    more: { has_older: all.length > from + limit, oldest_cursor: oldest === undefined ? null : idOf(oldest) }
  }
}

/** Inbox, requests, threads, sending and reading. */
export const makeDirectRoutes = (world: World, switches: Switches) => {
  const signedIn = asAccount(world)

  const view = (thread: SimulatedThread, own: string, limit: number, cursor?: string) => {
    const { more, page } = pageOf(thread.items, ({ item_id }) => item_id, limit, cursor)
    const { members, thread_id, title } = thread
    return {
      thread_id,
      thread_v2_id: thread_id,
      viewer_id: own,
      users: members.filter((pk) => pk !== own).map(world.userOf),
      items: page,
      is_group: title !== undefined,
      thread_title: title ?? null,
      pending: thread.pendingFor.has(own),
      last_activity_at: thread.items[0]?.timestamp,
      last_seen_at: Object.fromEntries([...thread.seen].map(([pk, item_id]) => [pk, { item_id }])),
      ...more
    }
  }

  const inbox = (isPending: boolean) =>
    signedIn(({ pk }) =>
      Effect.gen(function* () {
        const query = yield* HttpServerRequest.ParsedSearchParams
        const limit = Number(single(query["limit"]) ?? "20")
        const items = Number(single(query["thread_message_limit"]) ?? "10")
        const threads = world.box(pk, isPending)
        const { more, page } = pageOf(threads, ({ thread_id }) => thread_id, limit, single(query["cursor"]))
        return ok({
          inbox: { threads: page.map((thread) => view(thread, pk, items)), unseen_count: 0, ...more },
          pending_requests_total: world.box(pk, true).length,
          snapshot_at_ms: yield* Clock.currentTimeMillis,
          seq_id: 1
        })
      })
    )

  const ofThread = (
    answer: (thread: SimulatedThread, pk: string, params: HttpRouter.RouteContext["params"]) => object
  ) =>
    signedIn(({ pk }) =>
      Effect.map(HttpRouter.params, (params) => {
        const thread = world.threadOf(pk, params["id"] ?? "")
        return thread === undefined ? noThread : ok(answer(thread, pk, params))
      })
    )

  const thread = signedIn(({ pk }) =>
    Effect.gen(function* () {
      const { id = "" } = yield* HttpRouter.params
      const query = yield* HttpServerRequest.ParsedSearchParams
      const found = world.threadOf(pk, id)
      if (found === undefined) return noThread
      return ok({ thread: view(found, pk, Number(single(query["limit"]) ?? "20"), single(query["cursor"])) })
    })
  )

  const addressed = (pk: string, fields: Record<string, unknown>) => {
    const threadId = /\d+/.exec(String(fields["thread_ids"] ?? ""))?.[0]
    if (threadId !== undefined) return world.threadOf(pk, threadId)
    const peer = /\d+/.exec(String(fields["recipient_users"] ?? ""))?.[0]
    return peer === undefined ? undefined : world.threadBetween(pk, peer)
  }

  const broadcast = signedIn((account) =>
    Effect.gen(function* () {
      const { pk } = account
      const trouble = answerToSending(account)
      if (trouble !== undefined) return trouble
      const fields = yield* form
      if (String(fields["text"]).length > longest) return fail({ message: "The message is too long." })
      const context = String(fields["client_context"])
      const found = addressed(pk, fields)
      if (found === undefined) return noThread
      const known = switches.deduplicates
        ? found.items.find(({ client_context }) => client_context === context)
        : undefined
      const item =
        known ??
        world.write(found, pk, yield* Clock.currentTimeMillis, { text: String(fields["text"]), clientContext: context })
      found.pendingFor.delete(pk)
      const { item_id, timestamp } = item
      const payload = { item_id, timestamp, thread_id: found.thread_id, client_context: context }
      return ok({ action: "item_ack", status_code: "200", payload })
    })
  )

  return HttpRouter.empty.pipe(
    HttpRouter.get("/api/v1/direct_v2/inbox/", inbox(false)),
    HttpRouter.get("/api/v1/direct_v2/pending_inbox/", inbox(true)),
    HttpRouter.get("/api/v1/direct_v2/threads/:id/", thread),
    HttpRouter.post(
      "/api/v1/direct_v2/threads/:id/approve/",
      ofThread(({ pendingFor }, pk) => ({ approved: pendingFor.delete(pk) }))
    ),
    HttpRouter.post(
      "/api/v1/direct_v2/threads/:id/items/:item/seen/",
      ofThread(({ seen }, pk, params) => (seen.set(pk, params["item"] ?? ""), {}))
    ),
    HttpRouter.post("/api/v1/direct_v2/threads/broadcast/text/", broadcast),
    HttpRouter.get(
      "/api/v1/users/:name/usernameinfo/",
      signedIn(() =>
        Effect.map(HttpRouter.params, ({ name = "" }) => {
          const pk = world.pkOf(name)
          return pk === undefined ? fail({ message: "User not found" }, 404) : ok({ user: world.userOf(pk) })
        })
      )
    )
  )
}
