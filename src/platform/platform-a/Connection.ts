import {
  DateTime,
  Duration,
  Effect,
  Exit,
  Mailbox,
  Option,
  Random,
  Redacted,
  Runtime,
  Schema,
  type Scope
} from "effect"
import type { BaileysEventMap, BinaryNode, ConnectionState } from "baileys"
import { Closed, Connected, PairingCodeShown, type PlatformEvent, QrShown } from "../domain/PlatformEvent.ts"
import type { PlatformFailure, PushConnection, PushLogin } from "../Platform.ts"
import type { SessionVault } from "../SessionVault.ts"
import { isNoConversation, personOf } from "./Addresses.ts"
import { openArrivals } from "./Arrivals.ts"
import { isLinked, openAuthState } from "./AuthState.ts"
import { endOf } from "./ClosePolicy.ts"
import { asked, failure, makeOutgoing } from "./Outgoing.ts"
import type { PlatformAConfig } from "./PlatformAConfig.ts"
import { quietLogger } from "./QuietLogger.ts"
import { shortMemories } from "./ShortMemory.ts"
import type { Library } from "./SilentLibrary.ts"
import { translate } from "./Translate.ts"

/** How long the platform's own client shows the first of its codes, and each that follows. */
const firstQr = Duration.seconds(60)
const nextQr = Duration.seconds(20)
const pairingCodeLives = Duration.seconds(160)

/** Milliseconds between two signs of life: sessions that began together do not all give them together. */
const keepAliveEvery = [25_000, 30_000] as const

/** How long what is stored may be kept beside: until the session changes anyway, or so long. */
const tidyAfter = "1 second"

const Boom = Schema.decodeUnknownOption(Schema.Struct({ output: Schema.Struct({ statusCode: Schema.Int }) }))
const codeOf = (update: Partial<ConnectionState>) =>
  Option.map(Boom(update.lastDisconnect?.error), ({ output }) => output.statusCode)

/** A connection with what only the driver may do with it. */
export interface OwnConnection extends PushConnection {
  /** Asks the platform to take the link back. */
  readonly unlink: Effect.Effect<void, PlatformFailure>
}

/**
 * One socket of the library, from the handshake to its end. What it says goes, in order, into a mailbox that is as large
 * as it must be: the platform has been told that we have these messages, so none may be dropped.
 */
export const openConnection = Effect.fn("PlatformA.connect")(function* (
  library: Library,
  config: PlatformAConfig,
  login: PushLogin
): Effect.fn.Return<OwnConnection, PlatformFailure, SessionVault | Scope.Scope> {
  const runtime = yield* Effect.runtime<never>()
  const run = Runtime.runPromise(runtime)
  const fork = (effect: Effect.Effect<unknown>) => void Runtime.runFork(runtime)(effect)
  const auth = yield* openAuthState(library, login.channelId, run)
  const arrivals = yield* openArrivals(library, auth)
  const again = yield* arrivals.again
  const events = yield* Mailbox.make<PlatformEvent>()
  const scope = yield* Effect.scope
  const clock = yield* Effect.clock
  const keepAliveIntervalMs = yield* Random.nextIntBetween(...keepAliveEvery)
  /** Messages that are stored when so many of the events are. */
  const unstored: Array<{ readonly upTo: number; readonly messageIds: ReadonlyArray<string> }> = []
  let told = 0
  let kept = 0
  let shown = 0
  let isClosed = false
  let isTidying = false

  const socket = yield* Effect.try({
    try: () =>
      library.makeWASocket({
        auth: { creds: auth.creds, keys: auth.keys },
        waWebSocketUrl: config.url,
        version: config.version,
        browser: config.browser,
        logger: quietLogger(fork, login.channelId),
        markOnlineOnConnect: false,
        syncFullHistory: false,
        emitOwnEvents: false,
        keepAliveIntervalMs,
        ...shortMemories(library, clock),
        ...Option.match(config.qrLives, {
          onNone: () => ({}),
          onSome: (lives) => ({ qrTimeout: Duration.toMillis(lives) })
        }),
        shouldIgnoreJid: isNoConversation,
        makeSignalRepository: arrivals.makeSignalRepository,
        getMessage: async ({ id }) => {
          const text = id ? await run(login.sentText(id)) : Option.none()
          return Option.getOrUndefined(Option.map(text, (conversation) => ({ conversation })))
        }
      }),
    catch: () => failure("unavailable", "the platform cannot be reached")
  })
  const outgoing = makeOutgoing(socket)

  const tell = (event: PlatformEvent) => {
    told += 1
    events.unsafeOffer(event)
  }

  const close = (code: Option.Option<number>) => {
    if (isClosed) return
    isClosed = true
    outgoing.close()
    tell(Closed.make({ end: endOf(code, isLinked(auth.creds)), code }))
    events.unsafeDone(Exit.void)
  }

  /** What cannot be stored must not go on: the platform would be ahead of what we know. */
  const save = () =>
    run(
      auth.save.pipe(
        Effect.matchCauseEffect({
          onSuccess: () => Effect.void,
          onFailure: (cause) =>
            Effect.zipRight(
              Effect.logWarning("a session could not be stored", cause),
              Effect.promise(() => socket.end(undefined))
            )
        })
      )
    )

  const showCode = async (phoneNumber: string) => {
    const code = await socket.requestPairingCode(phoneNumber.replace(/\D/g, ""))
    const now = await run(DateTime.now)
    tell(PairingCodeShown.make({ code: Redacted.make(code), expiresAt: DateTime.addDuration(now, pairingCodeLives) }))
  }

  const showQr = async (qr: string) => {
    shown += 1
    if (Option.isSome(login.phoneNumber)) return shown === 1 ? showCode(login.phoneNumber.value) : undefined
    const lives = Option.getOrElse(config.qrLives, () => (shown === 1 ? firstQr : nextQr))
    tell(QrShown.make({ qr: Redacted.make(qr), expiresAt: DateTime.addDuration(await run(DateTime.now), lives) }))
  }

  const connectionChanged = async (update: Partial<ConnectionState>) => {
    if (update.qr !== undefined) await showQr(update.qr)
    const address = personOf(auth.creds.me?.id ?? "")
    if (update.connection === "open" && address !== "") {
      tell(Connected.make({ address, username: address.replace(/@.*$/, "") }))
    }
    if (update.connection === "close") close(codeOf(update))
  }

  const tidy = Effect.sleep(tidyAfter).pipe(
    Effect.zipRight(Effect.sync(() => (isTidying = false))),
    Effect.zipRight(auth.flush),
    Effect.catchTag("NotOwner", () => Effect.void),
    Effect.forkIn(scope)
  )

  const letGo = () => {
    while (unstored[0] !== undefined && unstored[0].upTo <= kept) {
      if (!arrivals.letGo(unstored.shift()?.messageIds ?? []) || isTidying) continue
      isTidying = true
      fork(tidy)
    }
  }

  const hear = async (batch: Partial<BaileysEventMap>) => {
    if (batch["creds.update"] !== undefined) await save()
    for (const event of translate(library, batch, personOf(auth.creds.me?.id ?? ""))) {
      if (event._tag === "SeenMessage") outgoing.heardFrom(event.chatId)
      tell(event)
    }
    const messageIds = (batch["messages.upsert"]?.messages ?? []).flatMap(({ key }) => (key.id ? [key.id] : []))
    if (messageIds.length > 0) unstored.push({ upTo: told, messageIds })
    letGo()
    if (batch["connection.update"] !== undefined) await connectionChanged(batch["connection.update"])
  }

  /** The library does not wait for who listens: the end of a connection must not overtake the credentials before it. */
  let heard = Promise.resolve()
  socket.ev.process((batch) => {
    heard = heard.then(() => hear(batch)).catch(() => socket.end(undefined))
  })

  /** The library has a message after us, and one that it opens by itself after that was written. */
  const readers = socket.ws.listeners("CB:message")
  let handed = Promise.resolve()
  const hand = async (stanza: BinaryNode) => {
    if (arrivals.note(stanza)) await run(auth.flush)
    readers.forEach((read) => read(stanza))
  }
  socket.ws.removeAllListeners("CB:message")
  socket.ws.on("CB:message", (stanza: BinaryNode) => {
    handed = handed.then(() => hand(stanza)).catch(() => socket.end(undefined))
  })
  socket.ws.once("CB:success", () => again.forEach((stanza) => socket.ws.emit("CB:message", stanza)))

  yield* Effect.addFinalizer(() => Effect.ignoreLogged(auth.flush))
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      close(Option.none())
      await socket.end(undefined)
      await heard
    }).pipe(Effect.interruptible, Effect.timeout("5 seconds"), Effect.ignoreLogged)
  )

  const stored = (count: number) =>
    Effect.sync(() => {
      kept += count
      letGo()
    })

  const unlink = Effect.suspend(() =>
    Effect.asVoid(
      asked(() =>
        socket.query({
          tag: "iq",
          attrs: { to: library.S_WHATSAPP_NET, type: "set", xmlns: "md" },
          content: [
            { tag: "remove-companion-device", attrs: { jid: auth.creds.me?.id ?? "", reason: "user_initiated" } }
          ]
        })
      )
    )
  )

  return { events, stored, send: outgoing.send, typing: Option.some(outgoing.typing), unlink }
})
