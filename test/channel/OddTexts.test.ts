import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { DateTime, Effect, FastCheck, Layer, Option } from "effect"
import { Channels } from "../../src/channel/Channels.ts"
import { Chats } from "../../src/channel/Chats.ts"
import { MessageId } from "../../src/channel/domain/Message.ts"
import { LinkedChannels } from "../../src/channel/LinkedChannels.ts"
import { LinkRepo } from "../../src/channel/LinkRepo.ts"
import { Messages } from "../../src/channel/Messages.ts"
import { nextId } from "../../src/kit/Id.ts"
import {
  ChatDescribed,
  Connected,
  GroupChanged,
  MessageDeleted,
  ReceiptSeen,
  SeenMessage
} from "../../src/platform/domain/PlatformEvent.ts"
import { ReplyChannel } from "../../src/reply/ReplyChannel.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as Life from "./Life.ts"
import { told } from "./ToldEvents.ts"

const written = "2026-03-01T12:00:00Z"
const firstPage = { before: Option.none<string>(), limit: 50 }

/** Halves of an emoji, NUL, and what looks like an escape. */
const odd = FastCheck.array(FastCheck.constantFrom("\ud83d", "\ude00", "\0", "a", "😀", "\\u0000", '"', "\\"), {
  minLength: 1,
  maxLength: 6
}).map((pieces) => pieces.join(""))

const assertWhole = (...values: ReadonlyArray<unknown>) =>
  assert.notMatch(JSON.stringify(values), /[^\\](\\\\)*\\u(0000|d[89a-f])/)

const services = Layer.merge(Life.layer(new Life.World()), LinkRepo.Default).pipe(
  Layer.provideMerge(TestDatabase.layer)
)

layer(services)("texts and ids that somebody cut in the middle", (it) => {
  it.effect.prop(
    "are stored once, told, and shown to the model",
    [odd, odd, odd, odd],
    ([body, name, sender, id]) =>
      Effect.gen(function* () {
        const world = new Life.World()
        world.write("1", body, written, {
          chatName: Option.some(name),
          sender: Option.some(sender),
          recipient: Option.some(sender),
          platformMessageId: id,
          clientId: Option.some(id)
        })
        const channel = yield* Life.connected
        const messages = yield* Messages
        const chats = yield* Chats
        const replies = yield* ReplyChannel
        assert.isTrue(yield* messages.record(channel, world.inbox, Effect.succeed(true)))
        assert.isFalse(yield* messages.record(channel, world.inbox, Effect.succeed(true)))
        const [stored] = yield* messages.page(channel.id, "pb:1", firstPage)
        const [chat] = yield* chats.page(channel.id, firstPage)
        const asked = { accountId: channel.id, chatId: "pb:1", upTo: Option.none(), limit: 20 }
        const [shown] = (yield* replies.windows([asked])).flat()
        const events = (yield* told(channel.id)).slice(1)
        deepStrictEqual(
          events.map(({ event }) => event),
          ["chat.created", "message.received"]
        )
        assert.strictEqual(events[1]?.data["body"], stored?.body)
        assertWhole(stored?.body, stored?.sender, stored?.platformMessageId, shown?.body, chat?.name, events)
      }),
    { fastCheck: { numRuns: 20 } }
  )

  it.effect("do not keep a message from being noted as sent", () =>
    Effect.gen(function* () {
      const channel = yield* Life.connected
      const messages = yield* Messages
      const id = MessageId.make(yield* nextId)
      const queued = yield* messages.queue({ id, channelId: channel.id, to: "pb:1", body: "x", source: "api" })
      const timestamp = DateTime.unsafeMake(written)
      yield* messages.sent(queued, { chatId: "pb:1", platformMessageId: "item-\ud83d\0", timestamp })
      const [stored] = yield* messages.page(channel.id, "pb:1", firstPage)
      deepStrictEqual([stored?.status, stored?.platformMessageId], ["sent", Option.some("item-\ufffd\ufffd")])
    })
  )

  it.effect.prop(
    "stop no channel that is linked to a phone, whatever it is told",
    [odd, odd],
    ([one, other]) =>
      Effect.gen(function* () {
        const channels = yield* Channels
        const links = yield* LinkRepo
        const linked = yield* LinkedChannels
        const { id } = (yield* channels.create("Shop", "platform_a")).channel
        yield* links.begin(id, Option.none())
        const login = { id, loginCount: 1, phoneNumber: Option.none() }
        const chatId = `49@${one}`
        const seen = SeenMessage.make({
          chatId,
          chatType: "private",
          chatName: Option.some(one),
          platformMessageId: other,
          direction: "incoming",
          type: "text",
          sender: Option.some(one),
          recipient: Option.none(),
          body: other,
          clientId: Option.none(),
          timestamp: DateTime.unsafeMake(written),
          aliases: [`lid${other}`]
        })
        yield* linked.hear(login, [
          Connected.make({ address: "49:1@s", username: one }),
          seen,
          ChatDescribed.make({ chatId, name: Option.some(other), aliases: [one] }),
          ReceiptSeen.make({ chatId, platformMessageIds: [other], status: "read", aliases: [other] }),
          GroupChanged.make({ chatId, change: "added", participants: [one], by: Option.some(other) }),
          MessageDeleted.make({ chatId, platformMessageId: other, direction: "incoming" })
        ])
        const events = yield* told(id)
        assertWhole(events)
        const names = events.map(({ event }) => event)
        assert.includeMembers(names, ["connection.connected", "message.received", "message.deleted"])
      }),
    { fastCheck: { numRuns: 20 } }
  )
})
