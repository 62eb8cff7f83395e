import { type Duration, Effect, Fiber, Layer, Option, Predicate, Queue, Redacted } from "effect"
import { Channels } from "../../src/channel/Channels.ts"
import { services } from "../../src/channel/ChannelContext.ts"
import { ChannelWaker } from "../../src/channel/ChannelWaker.ts"
import * as ChannelActor from "../../src/channel/actor/ChannelActor.ts"
import { PollLoop } from "../../src/channel/actor/PollLoop.ts"
import { messageSender } from "../../src/channel/actor/MessageSender.ts"
import { ReplyCalls } from "../../src/channel/actor/ReplyCalls.ts"
import { replySender } from "../../src/channel/actor/ReplySender.ts"
import type { ChannelId } from "../../src/channel/domain/Channel.ts"
import { Seal } from "../../src/kit/Seal.ts"
import { PlatformB } from "../../src/platform/Platform.ts"
import { AiEnvironment } from "../../src/reply/AiEnvironment.ts"
import { ChatModel, type ChatModelFailure, type ChatRequest } from "../../src/reply/ChatModel.ts"
import { Endpoints } from "../../src/webhook/Endpoints.ts"
import { Mortal } from "./Mortal.ts"
import * as MortalDatabase from "./Mortal.ts"
import * as PlatformInMemory from "./PlatformInMemory.ts"
import * as ToldEvents from "./ToldEvents.ts"

/** What outlives the program: the platform, and what the provider was asked and answers. */
export class World extends PlatformInMemory.PlatformWorld {
  readonly asked: Array<ChatRequest> = []
  readonly answers: Array<string | { readonly cutOff: string } | ChatModelFailure> = []
  /** What it answers when `answers` is empty, and after how long. */
  reply: (request: ChatRequest) => string = () => "With pleasure."
  thinking: Duration.DurationInput = 0
}

const sealing = Seal.layer([Redacted.make(Buffer.alloc(32, 7))])

/** The webhooks of channels are another context's: here nobody registered one. */
const hooks = Layer.mock(Endpoints, { removeOf: () => Effect.void })

const environment = Layer.succeed(AiEnvironment, {
  baseUrl: Option.none(),
  apiKey: Option.none(),
  modelName: Option.none(),
  systemPrompt: Option.none()
})

const provider = (world: World, mortal: Mortal) =>
  Layer.succeed(
    ChatModel,
    ChatModel.of({
      complete: (request) =>
        mortal.call(
          Effect.gen(function* () {
            world.asked.push(request)
            yield* Effect.sleep(world.thinking)
            const answer = world.answers.shift() ?? world.reply(request)
            const isCutOff = Predicate.hasProperty(answer, "cutOff")
            if (typeof answer !== "string" && !isCutOff) return yield* answer
            return {
              reply: isCutOff ? answer.cutOff : answer,
              isCutOff,
              model: request.model,
              promptTokens: Option.some(9),
              completionTokens: Option.some(3)
            }
          })
        )
    })
  )

/** The services of one life of the program, with wake-ups that go nowhere unless told. */
export const layer = (world: World, mortal = new Mortal(Infinity), waker: Layer.Layer<ChannelWaker> = deaf) =>
  services.pipe(
    Layer.provideMerge(waker),
    Layer.provideMerge(ToldEvents.layer),
    Layer.provideMerge(
      Layer.mergeAll(sealing, environment, hooks, provider(world, mortal), PlatformInMemory.layer(world, mortal.call))
    ),
    Layer.provideMerge(MortalDatabase.database(mortal))
  )

export const deaf = Layer.succeed(ChannelWaker, ChannelWaker.of({ wake: () => Effect.void }))

/** Wake-ups that reach the one actor of the test, once it is there. */
export const hearing = () => {
  let wake: Effect.Effect<unknown> = Effect.void
  const start = (id: ChannelId, options: { readonly pollInterval: Duration.Duration }) =>
    Effect.gen(function* () {
      const polls = yield* Layer.build(PollLoop.layer({ interval: options.pollInterval }))
      const actors = yield* Effect.provide(ChannelActor.make, polls)
      wake = actors.wake([id])
      yield* wake
    })
  const waker = Layer.succeed(ChannelWaker, ChannelWaker.of({ wake: () => Effect.suspend(() => Effect.asVoid(wake)) }))
  return { waker, start }
}

/** The loops that answer and send, without the one that polls, as long as the scope is open. */
export const answering = Effect.fn(function* (id: ChannelId) {
  const toSend = yield* Queue.sliding<void>(1)
  const calls = new ReplyCalls()
  const onEnded = Option.match({ onNone: () => calls.anything, onSome: (chat: string) => calls.chat(chat) })
  yield* Effect.forkScoped(Effect.forever(messageSender(id, toSend, yield* PlatformB, onEnded)))
  const replies = Effect.forkScoped(replySender(id, calls, Effect.asVoid(Queue.offer(toSend, undefined))))
  let loop = yield* replies
  return {
    rouse: Effect.asVoid(calls.anything),
    /** The loop that answers ends where it is, and another begins. */
    startAgain: Effect.gen(function* () {
      yield* Fiber.interrupt(loop)
      loop = yield* replies
    })
  }
})

/** A channel that is connected, and has not set its baseline. */
export const connectedAs = Effect.fn(function* (username: string) {
  const channels = yield* Channels
  const { channel } = yield* channels.create("Shop", "platform_b")
  return yield* channels.connect(channel.id, { username, password: Redacted.make("correct horse") }, Option.none())
})

export const connected = connectedAs("shop")
