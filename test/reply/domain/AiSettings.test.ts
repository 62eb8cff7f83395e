import { assert, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Arbitrary, FastCheck, Option } from "effect"
import { AiLayer, ChatMode, defaults, emptyLayer, resolve } from "../../../src/reply/domain/AiSettings.ts"

const layer = Arbitrary.make(AiLayer)
const chat = FastCheck.record({
  mode: Arbitrary.make(ChatMode),
  customSystemPrompt: FastCheck.option(FastCheck.string(), { nil: null }).map(Option.fromNullable)
})

it.prop(
  "a switch says yes only where all three do",
  [chat, layer, layer, layer],
  ([chat, account, global, environment]) => {
    const { accountEnabled, chatEnabled, globalEnabled } = resolve({ chat, account, global, environment })
    assert.strictEqual(globalEnabled, global.enabled === true)
    assert.strictEqual(accountEnabled, account.enabled !== false)
    assert.strictEqual(chatEnabled, chat.mode !== "disabled")
  }
)

it.prop(
  "the nearest layer that has a value gives it",
  [chat, layer, layer, layer],
  ([chat, account, global, environment]) => {
    const effective = resolve({ chat, account, global, environment })
    const nearest = account.modelName ?? global.modelName ?? environment.modelName ?? defaults.modelName
    assert.strictEqual(effective.modelName, nearest)
    const prompt = account.systemPrompt ?? global.systemPrompt ?? environment.systemPrompt ?? ""
    assert.strictEqual(
      effective.systemPrompt,
      Option.getOrElse(chat.customSystemPrompt, () => prompt)
    )
    deepStrictEqual(
      effective.timeoutSeconds,
      account.timeoutSeconds ?? global.timeoutSeconds ?? environment.timeoutSeconds ?? 30
    )
  }
)

it.prop(
  "an account without overrides has the values of all accounts",
  [chat, layer, layer],
  ([chat, global, environment]) => {
    const inherited = resolve({ chat, account: emptyLayer, global, environment })
    const repeated = resolve({ chat, account: { ...global, enabled: null }, global, environment })
    deepStrictEqual(inherited, repeated)
  }
)

it("answers nobody, and nothing but private chats, until it is told to", () => {
  const effective = resolve({
    chat: { mode: "inherit", customSystemPrompt: Option.none() },
    account: emptyLayer,
    global: emptyLayer,
    environment: emptyLayer
  })
  assert.isFalse(effective.globalEnabled)
  deepStrictEqual(effective.replyTo, { private: true, group: false, channel: false })
  assert.strictEqual(effective.timeoutSeconds, 30)
  assert.strictEqual(effective.replyDelaySeconds, 2)
})
