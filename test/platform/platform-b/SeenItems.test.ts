import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array, DateTime, Option, Schema } from "effect"
import { InboxBody } from "../../../src/platform/platform-b/Inbox.ts"
import { seenItem } from "../../../src/platform/platform-b/SeenItems.ts"

const own = { id: "7", username: "shop" }
const base = { item_id: "1", user_id: "8", timestamp: "1700000000123456", item_type: "text" }

const read = (items: ReadonlyArray<unknown>, more: object = {}) => {
  const thread = {
    thread_id: "340282366841710300949128100000000000000",
    users: [{ pk: "8", username: "ann", full_name: null }],
    items,
    ...more
  }
  const [found] = Schema.decodeUnknownSync(InboxBody)({ inbox: { threads: [thread] } }).inbox.threads
  return found === undefined ? [] : Array.filterMap(found.items, (item) => seenItem(found, item, own))
}
const one = (item: object, more: object = {}) => Option.getOrThrow(Array.head(read([{ ...base, ...item }], more)))

describe("items in neutral words", () => {
  it("have their kind and text", () => {
    const kinds = [
      [{ text: "hi" }, "text", "hi"],
      [{ item_type: "link", link: { text: "see https://x", link_context: {} } }, "text", "see https://x"],
      [{ item_type: "media", media: { media_type: 1 } }, "image", ""],
      [{ item_type: "media", media: { media_type: 2 } }, "video", ""],
      [{ item_type: "raven_media" }, "image", ""],
      [{ item_type: "voice_media" }, "audio", ""],
      [{ item_type: "like" }, "reaction", ""],
      [{ item_type: "animated_media" }, "sticker", ""],
      [{ item_type: "reel_share", reel_share: { text: "nice" } }, "unsupported", "nice"],
      [{ item_type: "of next year" }, "unsupported", ""],
      [{ item_type: "constructor" }, "unsupported", ""],
      [{ text: { odd: true } }, "text", ""]
    ] as const
    for (const [item, type, body] of kinds) {
      const { body: seenBody, type: seenType } = one(item)
      deepStrictEqual([seenType, seenBody], [type, body])
    }
    for (const item_type of ["action_log", "placeholder"]) deepStrictEqual(read([{ ...base, item_type }]), [])
  })

  it("have their sides", () => {
    const theirs = one({ text: "hi", client_context: "6800011111111111111" })
    deepStrictEqual(
      [theirs.direction, theirs.sender, theirs.recipient, theirs.chatName, theirs.chatType],
      ["incoming", Option.some("ann"), Option.some("shop"), Option.some("ann"), "private"]
    )
    deepStrictEqual(theirs.clientId, Option.some("6800011111111111111"))
    strictEqual(DateTime.formatIso(theirs.timestamp), "2023-11-14T22:13:20.123Z")
    const ours = one({ user_id: 7, text: "hello" })
    deepStrictEqual(
      [ours.direction, ours.sender, ours.recipient, ours.clientId],
      ["outgoing", Option.some("shop"), Option.some("ann"), Option.none()]
    )
    const group = one({ user_id: "9", text: "hey" }, { is_group: true, thread_title: "friends" })
    deepStrictEqual(
      [group.chatType, group.chatName, group.sender, group.recipient],
      ["group", Option.some("friends"), Option.some("9"), Option.none()]
    )
  })

  it("are not hidden by an odd one among them", () => {
    const odd = [null, 5, {}, { ...base, timestamp: "then" }, { ...base, timestamp: "99999999999999999999" }]
    const nulls = { ...base, item_id: "2", text: null, link: null, client_context: null, media: null }
    deepStrictEqual(
      read([...odd, nulls, base], { thread_title: null, oldest_cursor: null, is_group: null }).map(
        ({ platformMessageId }) => platformMessageId
      ),
      ["2", "1"]
    )
    const threads = Schema.decodeUnknownSync(InboxBody)({
      inbox: {
        threads: [{ thread_id: "../up", users: [], items: [] }, "?", { thread_id: "5", users: [null], items: [] }]
      }
    }).inbox.threads
    deepStrictEqual(
      threads.map(({ thread_id }) => thread_id),
      ["5"]
    )
  })
})
