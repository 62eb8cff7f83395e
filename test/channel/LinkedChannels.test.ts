import { layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Layer, Option } from "effect"
import { Channels } from "../../src/channel/Channels.ts"
import { LinkedChannels } from "../../src/channel/LinkedChannels.ts"
import { LinkRepo } from "../../src/channel/LinkRepo.ts"
import { MessageId } from "../../src/channel/domain/Message.ts"
import { Messages } from "../../src/channel/Messages.ts"
import { SendGate } from "../../src/channel/SendGate.ts"
import { SendQueue } from "../../src/channel/SendQueue.ts"
import { nextId } from "../../src/kit/Id.ts"
import { ReceiptSeen } from "../../src/platform/domain/PlatformEvent.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as Life from "./Life.ts"
import { noon } from "./Passing.ts"
import { told } from "./ToldEvents.ts"

const services = Layer.merge(Life.layer(new Life.World()), LinkRepo.Default).pipe(
  Layer.provideMerge(TestDatabase.layer)
)
const chatId = "491700000002@s.whatsapp.net"

layer(services)("LinkedChannels", (it) => {
  it.effect("takes a receipt for the platform's word that the message was sent, before the sender has heard it", () =>
    Effect.gen(function* () {
      yield* noon
      const links = yield* LinkRepo
      const linked = yield* LinkedChannels
      const queue = yield* SendQueue
      const { begin } = yield* SendGate
      const { channel } = yield* (yield* Channels).create("Shop", "platform_a")
      yield* links.begin(channel.id, Option.none())
      const [login] = (yield* linked.logins([channel.id])).values()
      const message = { channelId: channel.id, to: chatId, body: "hello", source: "api" as const }
      const { id, timestamp: at } = yield* (yield* Messages).queue({ ...message, id: MessageId.make(yield* nextId) })
      yield* begin(yield* Effect.flatten(queue.next(channel.id, at)), at)
      yield* linked.nameAhead(id, "3EB0")
      const receipt = ReceiptSeen.make({ chatId, platformMessageIds: ["3EB0"], status: "delivered", aliases: [] })
      yield* linked.hear(yield* Effect.fromNullable(login), [receipt])
      deepStrictEqual(
        (yield* told(channel.id)).map(({ event }) => event).filter((event) => event.startsWith("message")),
        ["message.sent", "message.delivered"]
      )
      deepStrictEqual(yield* queue.next(channel.id, at), Option.none())
    })
  )
})
