import { createHash } from "node:crypto"
import { Array, Effect, Order, Redacted, Schema } from "effect"
import type { BinaryNode, SignalAuthState, SocketConfig } from "baileys"
import { isNoConversation } from "./Addresses.ts"
import type { AuthState } from "./AuthState.ts"
import type { Library } from "./SilentLibrary.ts"

const kind = "arrival"

const Arrival = Schema.Struct({
  order: Schema.Int,
  messageId: Schema.String,
  plaintext: Schema.Uint8ArrayFromBase64,
  stanza: Schema.Uint8ArrayFromBase64
})
type Arrival = typeof Arrival.Type

const read = Schema.decode(Schema.parseJson(Arrival))
const write = Schema.encodeSync(Schema.parseJson(Arrival))

const earliestFirst = Order.mapInput(Order.number, ({ order }: Arrival) => order)

const placeOf = (ciphertext: Uint8Array) => createHash("sha256").update(ciphertext).digest("hex")

const inOne = <A>({ keys }: SignalAuthState, owner: string, work: () => Promise<A>): Promise<A> =>
  "transaction" in keys ? keys.transaction(work, owner) : work()

/**
 * Messages that were opened and are not stored yet. Opening one uses up its key, and the platform is told that it has
 * arrived: from then on nobody could send or open it again. So what it says is kept, sealed, by the transaction that
 * keeps the use of the key, until the message itself is stored; after a crash it arrives once more from here.
 */
export const openArrivals = Effect.fn("Arrivals.open")(function* (library: Library, auth: AuthState) {
  const rows = yield* auth.kept(kind)
  const known = new Map<string, Arrival>()
  for (const { keyId, value } of rows) known.set(keyId, yield* Effect.orDie(read(Redacted.value(value))))
  const earlier = Array.sort(known.values(), earliestFirst)
  const stanzas = new WeakMap<Uint8Array, BinaryNode>()
  let order = (earlier.at(-1)?.order ?? 0) + 1

  const keep = (keyId: string, stanza: BinaryNode, plaintext: Uint8Array) => {
    const messageId = stanza.attrs["id"] ?? ""
    const arrival = { order: order++, messageId, plaintext, stanza: library.encodeBinaryNode(stanza) }
    known.set(keyId, arrival)
    auth.stage({ kind, keyId, value: write(arrival) })
  }

  /** What was never sealed is kept as it came. */
  const keepPlain = (stanza: BinaryNode) => {
    const { from = "", id = "" } = stanza.attrs
    const keyId = placeOf(Buffer.from(`${from} ${id}`))
    const isNews = !known.has(keyId) && !isNoConversation(from)
    if (isNews) keep(keyId, stanza, new Uint8Array())
    return isNews
  }

  const opening = async (
    signal: SignalAuthState,
    owner: string,
    ciphertext: Uint8Array,
    open: () => Promise<Uint8Array>
  ) =>
    known.get(placeOf(ciphertext))?.plaintext ??
    inOne(signal, owner, async () => {
      const plaintext = await open()
      const stanza = stanzas.get(ciphertext)
      if (stanza !== undefined) keep(placeOf(ciphertext), stanza, plaintext)
      return plaintext
    })

  const makeSignalRepository: SocketConfig["makeSignalRepository"] = (signal, logger, aliasesOf) => {
    const repository = library.DEFAULT_CONNECTION_CONFIG.makeSignalRepository(signal, logger, aliasesOf)
    return {
      ...repository,
      decryptMessage: (sealed) =>
        opening(signal, sealed.jid, sealed.ciphertext, () => repository.decryptMessage(sealed)),
      decryptGroupMessage: (sealed) =>
        opening(signal, sealed.group, sealed.msg, () => repository.decryptGroupMessage(sealed))
    }
  }

  return {
    makeSignalRepository,
    /** Before the library has a stanza. True when it may have it only after a flush: it opens that one by itself. */
    note: (stanza: BinaryNode): boolean => {
      const parts = Array.isArray(stanza.content) ? stanza.content : []
      for (const { content } of parts) if (content instanceof Uint8Array) stanzas.set(content, stanza)
      return parts.some(({ tag }) => tag === "plaintext") && keepPlain(stanza)
    },
    /** The stanzas of an earlier connection that nobody stored, in their order. */
    again: Effect.forEach(
      Array.dedupeWith(earlier, (left, right) => left.messageId === right.messageId),
      ({ stanza }) => Effect.promise(() => library.decodeBinaryNode(Buffer.from(stanza)))
    ).pipe(
      Effect.map(
        Array.map(({ attrs, ...stanza }): BinaryNode => ({
          ...stanza,
          attrs: { ...attrs, offline: attrs["offline"] ?? "0" }
        }))
      )
    ),
    /** True when there is something to let go of. */
    letGo: (messageIds: ReadonlyArray<string>): boolean => {
      const gone = [...known].filter(([, { messageId }]) => messageIds.includes(messageId))
      for (const [keyId] of gone) {
        known.delete(keyId)
        auth.stage({ kind, keyId, value: null })
      }
      return gone.length > 0
    }
  } as const
})
