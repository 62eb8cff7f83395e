import { assert, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Arbitrary, FastCheck, Option } from "effect"
import { AiLayer, ChatMode, defaults, emptyLayer, inheriting, resolve } from "../../../src/reply/domain/AiSettings.ts"

const layer = FastCheck.record({ layer: Arbitrary.make(AiLayer), hasApiKey: FastCheck.boolean() })
const empty = { layer: emptyLayer, hasApiKey: false }
const chat = FastCheck.record({
  mode: Arbitrary.make(ChatMode),
  customSystemPrompt: FastCheck.option(FastCheck.string(), { nil: null }).map(Option.fromNullable)
})

it.prop(
  "a switch says yes only where all three do",
  [chat, layer, layer, layer],
  ([chat, account, global, environment]) => {
    const { enabled } = resolve({ chat, account, global, environment })
    assert.strictEqual(enabled.global, global.layer.enabled === true)
    assert.strictEqual(enabled.account, account.layer.enabled !== false)
    assert.strictEqual(enabled.chat, chat.mode !== "disabled")
  }
)

const keys = [
  "baseUrl",
  "modelName",
  "systemPrompt",
  "businessKnowledge",
  "temperature",
  "maxTokens",
  "timeoutSeconds",
  "replyDelaySeconds",
  "replyToPrivate",
  "replyToGroups",
  "replyToChannels",
  "echoMode",
  "managerAlerts",
  "debounceSeconds",
  "humanTakeoverMinutes"
] as const

it.prop(
  "each value is that of the nearest layer that has one, and says which",
  [layer, layer, layer, FastCheck.constantFrom(...keys)],
  ([account, global, environment, key]) => {
    const { layer: name, value } = resolve({ chat: inheriting, account, global, environment })[key]
    const order = { account, global, environment }
    const holders = (["account", "global", "environment"] as const).filter((one) => order[one].layer[key] !== null)
    assert.strictEqual(name, holders[0] ?? "default")
    deepStrictEqual<unknown>(
      value,
      name === "default" ? defaults[key] : name === "chat" ? null : order[name].layer[key]
    )
  }
)

it.prop("a chat's own prompt comes first", [FastCheck.string(), layer], ([prompt, account]) => {
  const chat = { mode: "inherit" as const, customSystemPrompt: Option.some(prompt) }
  const { systemPrompt } = resolve({ chat, account, global: empty, environment: empty })
  deepStrictEqual(systemPrompt, { value: prompt, layer: "chat" })
})

it.prop("the nearest key is used", [layer, layer, layer], ([account, global, environment]) => {
  const { hasApiKey } = resolve({ chat: inheriting, account, global, environment })
  const order = { account, global, environment }
  const holder = (["account", "global", "environment"] as const).find((one) => order[one].hasApiKey)
  deepStrictEqual(hasApiKey, { value: holder !== undefined, layer: holder ?? "default" })
})

it("answers nobody, and nothing but private chats, until it is told to", () => {
  const effective = resolve({ chat: inheriting, account: empty, global: empty, environment: empty })
  deepStrictEqual(effective.enabled, { global: false, account: true, chat: true })
  const plain = Object.fromEntries(keys.map((key) => [key, effective[key].value]))
  deepStrictEqual<unknown>(plain, Object.fromEntries(keys.map((key) => [key, defaults[key]])))
  assert.strictEqual(effective.timeoutSeconds.value, 30)
  assert.strictEqual(effective.replyDelaySeconds.value, 2)
})
