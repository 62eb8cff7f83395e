import { Array, Context, DateTime, Effect, Layer, Option, Redacted } from "effect"
import { nextId } from "../kit/Id.ts"
import { Seal } from "../kit/Seal.ts"
import type {
  ChatDescribed,
  ConnectionEnd,
  GroupChanged,
  MessageDeleted,
  PlatformEvent,
  ReceiptSeen,
  SeenMessage
} from "../platform/domain/PlatformEvent.ts"
import { storableEvent } from "../platform/domain/StorableEvent.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { ChannelRepo } from "./ChannelRepo.ts"
import { ChatNames } from "./ChatNames.ts"
import { ChatRepo } from "./ChatRepo.ts"
import { Channel, type ChannelId, connectionData } from "./domain/Channel.ts"
import { chatItem } from "./domain/Chat.ts"
import type { GatewayEvent } from "./domain/GatewayEvent.ts"
import { Message, messageItem } from "./domain/Message.ts"
import { stepsTo } from "./domain/Receipt.ts"
import { LinkRepo } from "./LinkRepo.ts"
import { Messages } from "./Messages.ts"
import { ReceiptRepo } from "./ReceiptRepo.ts"
import { SentMessages } from "./SentMessages.ts"

/** A login of a channel that is linked to a phone. */
export interface LinkedLogin {
  readonly id: ChannelId
  readonly loginCount: number
  readonly phoneNumber: Option.Option<string>
}

const isSeen = (event: PlatformEvent): event is SeenMessage => event._tag === "SeenMessage"

const alive = ["connecting", "qr_required", "connected"]

/**
 * What the actor of a channel that is linked to a phone does with what the platform says. A login that is over changes
 * nothing; a status or a message and its event are one transaction.
 */
export class LinkedChannels extends Context.Tag("gatehouse/channel/LinkedChannels")<
  LinkedChannels,
  {
    /** Those of the channels that are linked to a phone and want a connection. */
    readonly logins: (ids: ReadonlyArray<ChannelId>) => Effect.Effect<ReadonlyMap<ChannelId, LinkedLogin>>
    /** Stores what the platform said, in order; true when there may be something to answer. */
    readonly hear: (login: LinkedLogin, events: ReadonlyArray<PlatformEvent>) => Effect.Effect<boolean>
    /** The connection was lost and is tried again. */
    readonly lost: (login: LinkedLogin, reason: string) => Effect.Effect<void>
    /** No more is tried. */
    readonly over: (
      login: LinkedLogin,
      status: "error" | "disconnected",
      reason: string,
      isForgotten: boolean
    ) => Effect.Effect<void>
    /** Whether it is the login of the moment: what was heard by another counts for nothing. */
    readonly isCurrent: (login: LinkedLogin) => Effect.Effect<boolean>
    /** What an outgoing message says that the platform knows by this id; none when it was taken back. */
    readonly sentText: (id: ChannelId, platformMessageId: string) => Effect.Effect<Option.Option<string>>
    /** An outgoing message will have this id on the platform. */
    readonly nameAhead: (messageId: string, platformMessageId: string) => Effect.Effect<void>
  }
>() {
  static readonly layer = Layer.effect(
    LinkedChannels,
    Effect.gen(function* () {
      const links = yield* LinkRepo
      const channels = yield* ChannelRepo
      const chats = yield* ChatRepo
      const receipts = yield* ReceiptRepo
      const names = yield* ChatNames
      const messages = yield* Messages
      const sentMessages = yield* SentMessages
      const outbox = yield* Outbox
      const seal = yield* Seal

      const tell = Effect.fn("LinkedChannels.tell")(function* (
        id: ChannelId,
        events: ReadonlyArray<{ readonly event: GatewayEvent; readonly data: unknown }>
      ) {
        const timestamp = yield* DateTime.now
        const owner = { kind: "account", id } as const
        yield* outbox.publish(
          yield* Effect.forEach(events, ({ data, event }) =>
            Effect.map(nextId, (eventId) => ({ eventId, owner, event, timestamp, data }))
          )
        )
      })

      const tellState = (channel: Option.Option<Channel>, event: GatewayEvent, more: object = {}) =>
        Option.match(channel, {
          onNone: () => Effect.void,
          onSome: (changed) => tell(changed.id, [{ event, data: { ...connectionData(changed), ...more } }])
        })

      const logins = Effect.fn("LinkedChannels.logins")(function* (ids: ReadonlyArray<ChannelId>) {
        const wanted = (yield* links.among(ids)).filter(({ status }) => alive.includes(status))
        return new Map(
          wanted.map(({ id, loginCount, phoneNumber }): [ChannelId, LinkedLogin] => [
            id,
            { id, loginCount, phoneNumber }
          ])
        )
      })

      const show = Effect.fn("LinkedChannels.show")(function* (
        { id, loginCount }: LinkedLogin,
        shownAs: "qr" | "pairing_code",
        secret: Redacted.Redacted<string>,
        expiresAt: DateTime.Utc
      ) {
        yield* links.show(id, { shownAs, shownSealed: yield* seal.seal(secret, id), expiresAt })
        yield* links.stand({ id, loginCount, status: "qr_required", reason: null })
        const shown = yield* channels.byId(id)
        if (shownAs === "qr") yield* tellState(shown, "connection.qr", { qr: Redacted.value(secret) })
      })

      const connected = Effect.fn("LinkedChannels.connected")(function* (
        { id, loginCount }: LinkedLogin,
        address: string,
        username: string
      ) {
        const sessionSealed = yield* seal.seal(Redacted.make(address), id)
        yield* links.hide(id)
        const at = yield* DateTime.now
        const changed = yield* links.connected({ id, loginCount, username, sessionSealed, at })
        yield* tellState(changed, "connection.connected")
      })

      const receipt = Effect.fn("LinkedChannels.receipt")(function* ({ id }: LinkedLogin, seen: ReceiptSeen) {
        const ids = seen.platformMessageIds
        const early = yield* receipts.known({ channelId: id, ids, direction: "outgoing" })
        const unsettled = early.filter(({ isSettled }) => !isSettled)
        const ended = yield* sentMessages.note(
          unsettled.map((message) => {
            const { chatId, timestamp } = message
            const platformMessageId = Option.getOrElse(message.platformMessageId, () => "")
            return { message, sent: { chatId, platformMessageId, timestamp } }
          })
        )
        const known =
          unsettled.length === 0 ? early : yield* receipts.known({ channelId: id, ids, direction: "outgoing" })
        for (const message of known) {
          const steps = stepsTo(message.status, seen.status)
          const last = Array.last(steps)
          if (Option.isNone(last)) continue
          yield* receipts.stand(message.id, last.value)
          yield* tell(
            id,
            steps.map((status) => ({
              event: `message.${status}` as const,
              data: messageItem(Message.make({ ...message, status }))
            }))
          )
        }
        return ended.size > 0
      })

      const deleted = Effect.fn("LinkedChannels.deleted")(function* ({ id }: LinkedLogin, gone: MessageDeleted) {
        const { direction, platformMessageId } = gone
        const known = yield* receipts.known({ channelId: id, ids: [platformMessageId], direction })
        for (const message of known.filter(({ status }) => status !== "deleted")) {
          yield* receipts.stand(message.id, "deleted")
          const data = messageItem(Message.make({ ...message, status: "deleted" }))
          yield* tell(id, [{ event: "message.deleted", data }])
        }
      })

      const groupChanged = ({ id }: LinkedLogin, { by, change, chatId, participants }: GroupChanged) =>
        tell(id, [
          {
            event: change === "added" ? "group.participant_added" : "group.participant_removed",
            data: { chat_id: chatId, participants, by: Option.getOrNull(by) }
          }
        ])

      const described = Effect.fn("LinkedChannels.described")(function* (
        { id }: LinkedLogin,
        { aliases, chatId: called, name }: ChatDescribed
      ) {
        const chatId = yield* names.resolve(id, called, aliases)
        const chat = yield* chats.byId({ channelId: id, chatId })
        if (Option.isNone(chat) || Option.isNone(name) || Option.contains(chat.value.name, name.value)) return
        yield* chats.update(id, chatId, { name: name.value })
        const data = chatItem({ ...chat.value, name })
        yield* tell(id, [{ event: "chat.updated", data }])
      })

      const changed = (login: LinkedLogin, event: Exclude<PlatformEvent, SeenMessage | ReceiptSeen>) => {
        switch (event._tag) {
          case "QrShown":
            return show(login, "qr", event.qr, event.expiresAt)
          case "PairingCodeShown":
            return show(login, "pairing_code", event.code, event.expiresAt)
          case "Connected":
            return connected(login, event.address, event.username)
          case "MessageDeleted":
            return deleted(login, event)
          case "GroupChanged":
            return groupChanged(login, event)
          case "ChatDescribed":
            return described(login, event)
          case "Closed":
            return Effect.void
        }
      }

      /** True when another reply is due. */
      const alone = (login: LinkedLogin, event: Exclude<PlatformEvent, SeenMessage>): Effect.Effect<boolean> => {
        if (event._tag === "ReceiptSeen") return receipt(login, event)
        return Effect.as(changed(login, event), false)
      }

      const inOne = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.orDie(outbox.transaction(effect))

      const heard = ({ id, loginCount }: LinkedLogin) =>
        Effect.flatMap(DateTime.now, (at) => links.heard({ id, loginCount, at }))

      const record = Effect.fn("LinkedChannels.record")(function* (
        login: LinkedLogin,
        seen: ReadonlyArray<SeenMessage>
      ) {
        const channel = yield* channels.byId(login.id)
        if (Option.isNone(channel)) return false
        const named = yield* inOne(
          Effect.forEach(seen, (message) =>
            Effect.map(names.resolve(login.id, message.chatId, message.aliases), (chatId) => ({ ...message, chatId }))
          )
        )
        return yield* messages.record(channel.value, named, heard(login))
      })

      const hear = Effect.fn("LinkedChannels.hear")(function* (
        login: LinkedLogin,
        events: ReadonlyArray<PlatformEvent>
      ) {
        let isNews = false
        let rest = events.map(storableEvent)
        while (rest.length > 0) {
          const [seen, others] = Array.span(rest, isSeen)
          if (seen.length > 0) isNews = (yield* record(login, seen)) || isNews
          const [next] = others
          if (next !== undefined && !isSeen(next)) {
            const isNextDue = yield* inOne(
              Effect.flatMap(heard(login), (isOurs) => (isOurs ? alone(login, next) : Effect.succeed(false)))
            )
            isNews = isNextDue || isNews
          }
          rest = others.slice(1)
        }
        return isNews
      })

      const lost = Effect.fn("LinkedChannels.lost")(function* ({ id, loginCount }: LinkedLogin, reason: string) {
        const changed = yield* links.stand({ id, loginCount, status: "connecting", reason })
        if (Option.isNone(changed)) return
        yield* Effect.logInfo("a channel lost its connection").pipe(Effect.annotateLogs({ channel: id, reason }))
        yield* tellState(changed, "connection.disconnected")
      }, inOne)

      const over = Effect.fn("LinkedChannels.over")(function* (
        { id, loginCount }: LinkedLogin,
        status: "error" | "disconnected",
        reason: ConnectionEnd | string,
        isForgotten: boolean
      ) {
        const changed = yield* links.stand({ id, loginCount, status, reason })
        if (Option.isNone(changed)) return
        yield* links.hide(id)
        if (isForgotten) yield* links.forgotten(id)
        yield* Effect.logWarning("a channel stops trying").pipe(Effect.annotateLogs({ channel: id, reason }))
        yield* tellState(changed, status === "error" ? "connection.error" : "connection.disconnected")
      }, inOne)

      const isCurrent = ({ id, loginCount }: LinkedLogin) =>
        Effect.map(
          links.byId(id),
          Option.exists((link) => link.loginCount === loginCount)
        )

      return LinkedChannels.of({
        logins,
        hear,
        lost,
        over,
        isCurrent,
        sentText: (channelId, platformMessageId) => receipts.sentText({ channelId, platformMessageId }),
        nameAhead: receipts.nameAhead
      })
    })
  ).pipe(Layer.provide([LinkRepo.Default, ReceiptRepo.Default, ChatNames.layer]))
}
