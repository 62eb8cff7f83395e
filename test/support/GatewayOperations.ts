import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { call } from "./Api.ts"
import * as Gatehouse from "./Gatehouse.ts"
import type { Valid } from "./Operations.ts"
import { chatOf, eventually, makeChannel, write } from "./Story.ts"
import { Program } from "./Team.ts"

const password = "s3cret-of-the-shop"

const whole = (url: string, token: string, account: string) =>
  Effect.map(call("GET", `${url}/v1/webhook-deliveries?account_id=${account}&limit=100`, { token }), ({ body }) =>
    body.data.length > 1 && body.data.every(({ state }: { state: string }) => state === "succeeded")
      ? (body.data as ReadonlyArray<{ readonly id: string }>)
      : undefined
  )

/** A channel with one record of every kind, at rest: nothing polls, waits or is sent. */
export const prepareChannel = Effect.fn(function* (username: string) {
  const { url, world } = yield* Program
  const { channelToken, id, token } = yield* makeChannel(world, url, username)
  const ask = (method: string, path: string, body?: unknown) => call(method, `${url}/v1${path}`, { token, body })
  yield* ask("PUT", "/ai/global", { enabled: false })
  yield* write(world, `carla-of-${username}`, username, "Are you open?")
  const chat = yield* eventually(
    Effect.map(ask("GET", `/accounts/${id}/chats`), ({ body }): string | undefined => body.data[0]?.chat_id),
    "a chat"
  )
  const [webhook] = (yield* ask("GET", `/accounts/${id}/webhooks`)).body.data
  const disconnected = yield* ask("POST", `/accounts/${id}/disconnect`)
  assert.strictEqual(disconnected.status, 200)
  const deliveries = yield* eventually(whole(url, token, id), "deliveries that are done")
  return {
    username,
    channelToken,
    person: `carla-of-${username}`,
    ids: { id, chat, webhook: webhook.id as string, delivery: deliveries[0]?.id ?? "" }
  }
})

export type PreparedChannel = Effect.Effect.Success<ReturnType<typeof prepareChannel>>

const nothing: Valid = {}
const login = ({ username }: PreparedChannel) => ({ username, password })

/** A valid call of every operation of the gateway. */
export const gatewayCalls: Readonly<Record<string, (prepared: PreparedChannel) => Valid>> = {
  "operators.operatorLogin": () => ({
    body: { email: Gatehouse.secrets.OPERATOR_EMAIL, password: Gatehouse.secrets.OPERATOR_PASSWORD }
  }),
  "operators.operatorLogout": () => nothing,
  "accounts.createAccount": () => ({ body: { name: "Second", platform: "platform_b" } }),
  "accounts.listAccounts": () => nothing,
  "accounts.getAccount": () => nothing,
  "accounts.updateAccount": () => ({ body: { name: "Renamed" } }),
  "accounts.deleteAccount": () => nothing,
  "accounts.connectAccount": (prepared) => ({ body: login(prepared) }),
  "accounts.answerChallenge": (prepared) => ({ body: { ...login(prepared), code: "123456" } }),
  "accounts.disconnectAccount": () => nothing,
  "accounts.logoutAccount": () => nothing,
  "accounts.rotateToken": () => nothing,
  "accounts.showQr": () => nothing,
  "accounts.getPacing": () => nothing,
  "accounts.putPacing": () => ({
    body: { gap_seconds: [1, 2], per_minute: 5, per_hour: null, per_day: null, new_chats_per_day: null }
  }),
  "chats.listChats": () => nothing,
  "chats.updateChat": () => ({ body: { is_blocked: true } }),
  "chats.listMessages": () => nothing,
  "eventStreams.streamEvents": () => nothing,
  "eventStreams.streamAccountEvents": () => nothing,
  "messages.sendText": ({ ids }) => ({ body: { to: ids.chat, body: "Hello" } }),
  "ai.getGlobalAi": () => nothing,
  "ai.putGlobalAi": () => ({ body: { enabled: true, model_name: "other" } }),
  "ai.getAccountAi": () => nothing,
  "ai.putAccountAi": () => ({ body: { enabled: false } }),
  "ai.deleteAccountAi": () => nothing,
  "ai.getChatAi": () => nothing,
  "ai.putChatAi": () => ({ body: { mode: "disabled" } }),
  "ai.getEffectiveAi": () => nothing,
  "ai.listAiLogs": () => nothing,
  "aiTrials.tryAi": ({ ids }) => ({ body: { account_id: ids.id, message: "Are you open?" } }),
  "aiTrials.tryChatAi": ({ ids }) => ({ body: { chat_id: ids.chat, message: "Are you open?" } }),
  "channelWebhooks.listWebhooks": () => nothing,
  "channelWebhooks.createWebhook": () => ({ body: { url: "http://127.0.0.1:9/", events: ["*"] } }),
  "channelWebhooks.getWebhook": () => nothing,
  "channelWebhooks.updateWebhook": () => ({ body: { retry_count: 1 } }),
  "channelWebhooks.rotateWebhookSecret": () => ({ body: { overlap_seconds: 60 } }),
  "channelWebhooks.testWebhook": () => nothing,
  "channelWebhooks.replayWebhook": () => ({
    body: { from: "2026-01-01T00:00:00.000Z", to: "2026-01-02T00:00:00.000Z" }
  }),
  "channelWebhooks.deleteWebhook": () => nothing,
  "channelWebhooks.listDeliveries": () => nothing,
  "channelWebhooks.retryDelivery": () => nothing
}

/** What a person on the platform reads of a channel. */
export const readBy = (prepared: PreparedChannel) =>
  Effect.flatMap(Program, ({ world }) => chatOf(world, prepared.person))
