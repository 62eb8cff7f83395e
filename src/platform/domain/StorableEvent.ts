import { Option } from "effect"
import {
  ChatDescribed,
  Connected,
  GroupChanged,
  MessageDeleted,
  type PlatformEvent,
  ReceiptSeen,
  SeenMessage
} from "./PlatformEvent.ts"
import { storableId, storableText } from "./StorableText.ts"

/** A message with texts and ids that can be stored: who writes chooses some of them, and a platform cuts others. */
export const storableMessage = (seen: SeenMessage): SeenMessage =>
  SeenMessage.make(
    {
      ...seen,
      chatId: storableId(seen.chatId),
      chatName: Option.map(seen.chatName, storableText),
      platformMessageId: storableId(seen.platformMessageId),
      sender: Option.map(seen.sender, storableText),
      recipient: Option.map(seen.recipient, storableText),
      body: storableText(seen.body),
      clientId: Option.map(seen.clientId, storableId),
      aliases: seen.aliases.map(storableId)
    },
    true
  )

/** The same of whatever a platform says. */
export const storableEvent = (event: PlatformEvent): PlatformEvent => {
  switch (event._tag) {
    case "SeenMessage":
      return storableMessage(event)
    case "ReceiptSeen": {
      const { aliases, chatId, platformMessageIds } = event
      return ReceiptSeen.make(
        {
          ...event,
          chatId: storableId(chatId),
          platformMessageIds: platformMessageIds.map(storableId),
          aliases: aliases.map(storableId)
        },
        true
      )
    }
    case "MessageDeleted": {
      const { aliases, chatId, platformMessageId } = event
      return MessageDeleted.make(
        {
          ...event,
          chatId: storableId(chatId),
          platformMessageId: storableId(platformMessageId),
          aliases: aliases.map(storableId)
        },
        true
      )
    }
    case "GroupChanged": {
      const { by, chatId, participants } = event
      return GroupChanged.make(
        {
          ...event,
          chatId: storableId(chatId),
          participants: participants.map(storableId),
          by: Option.map(by, storableId)
        },
        true
      )
    }
    case "ChatDescribed": {
      const { aliases, chatId, name } = event
      return ChatDescribed.make(
        { chatId: storableId(chatId), name: Option.map(name, storableText), aliases: aliases.map(storableId) },
        true
      )
    }
    case "Connected":
      return Connected.make({ address: event.address, username: storableId(event.username) }, true)
    case "QrShown":
    case "PairingCodeShown":
    case "Closed":
      return event
  }
}
