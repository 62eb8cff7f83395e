import {
  DateTime,
  Deferred,
  Duration,
  Effect,
  Either,
  Exit,
  Mailbox,
  Option,
  Redacted,
  Runtime,
  Schema,
  type Scope
} from "effect"
import type { ConnectionState } from "baileys"
import { recipient } from "../domain/Recipient.ts"
import { Closed, Connected, PairingCodeShown, type PlatformEvent, QrShown } from "../domain/PlatformEvent.ts"
import { PlatformFailure, type PushConnection } from "../Platform.ts"
import type { SessionVault } from "../SessionVault.ts"
import { isGroup, isNoConversation, personOf, sentId } from "./Addresses.ts"
import { isLinked, openAuthState } from "./AuthState.ts"
import { endOf } from "./ClosePolicy.ts"
import type { PlatformAConfig } from "./PlatformAConfig.ts"
import { quietLogger } from "./QuietLogger.ts"
import type { Library } from "./SilentLibrary.ts"
import { translate } from "./Translate.ts"

/** How long the platform shows its first code and the later ones, and how many it has. */
const firstQr = Duration.seconds(60)
const nextQr = Duration.seconds(20)
const pairingCodeLives = Duration.seconds(160)

const ackPatience = "15 seconds"

const failure = (reason: PlatformFailure["reason"], detail: string) =>
  new PlatformFailure({ reason, detail, retryAfter: Option.none() })

const Boom = Schema.decodeUnknownOption(Schema.Struct({ output: Schema.Struct({ statusCode: Schema.Int }) }))
const codeOf = (update: Partial<ConnectionState>) =>
  Option.map(Boom(update.lastDisconnect?.error), ({ output }) => output.statusCode)

/** What a refusal of a message means: a lock on new chats, or a message that will never be accepted. */
const refusal = (code: string) =>
  code === "463"
    ? failure("action_blocked", "the platform lets this account open no new chats for now")
    : failure("not_found", `the platform refused the message (${code})`)

const Ack = Schema.decodeUnknownOption(
  Schema.Struct({ attrs: Schema.Struct({ id: Schema.String, error: Schema.optional(Schema.String) }) })
)

/**
 * One socket of the library, from the handshake to its end. What it says goes, in order, into a mailbox that is as large
 * as it must be: the platform has been told that we have these messages, so none may be dropped.
 */
export const openConnection = Effect.fn("PlatformA.connect")(function* (
  library: Library,
  config: PlatformAConfig,
  login: { readonly channelId: string; readonly phoneNumber: Option.Option<string> }
): Effect.fn.Return<PushConnection, PlatformFailure, SessionVault | Scope.Scope> {
  const runtime = yield* Effect.runtime<never>()
  const run = Runtime.runPromise(runtime)
  const fork = (effect: Effect.Effect<unknown>) => void Runtime.runFork(runtime)(effect)
  const auth = yield* openAuthState(library, login.channelId, run)
  const events = yield* Mailbox.make<PlatformEvent>()
  const unanswered = new Map<string, Deferred.Deferred<void, PlatformFailure>>()
  const reachable = new Set<string>()
  let shown = 0
  let isClosed = false

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
        shouldIgnoreJid: isNoConversation
      }),
    catch: () => failure("unavailable", "the platform cannot be reached")
  })

  const close = (code: Option.Option<number>) => {
    if (isClosed) return
    isClosed = true
    for (const answer of unanswered.values()) {
      Deferred.unsafeDone(answer, Exit.fail(failure("unavailable", "the connection ended")))
    }
    events.unsafeOffer(Closed.make({ end: endOf(code, isLinked(auth.creds)), code }))
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
    events.unsafeOffer(
      PairingCodeShown.make({ code: Redacted.make(code), expiresAt: DateTime.addDuration(now, pairingCodeLives) })
    )
  }

  const showQr = async (qr: string) => {
    shown += 1
    if (Option.isSome(login.phoneNumber)) return shown === 1 ? showCode(login.phoneNumber.value) : undefined
    const expiresAt = DateTime.addDuration(await run(DateTime.now), shown === 1 ? firstQr : nextQr)
    events.unsafeOffer(QrShown.make({ qr: Redacted.make(qr), expiresAt }))
  }

  const connectionChanged = async (update: Partial<ConnectionState>) => {
    if (update.qr !== undefined) await showQr(update.qr)
    const address = personOf(auth.creds.me?.id ?? "")
    if (update.connection === "open" && address !== "") {
      events.unsafeOffer(Connected.make({ address, username: address.replace(/@.*$/, "") }))
    }
    if (update.connection === "close") close(codeOf(update))
  }

  socket.ev.process(async (batch) => {
    if (batch["creds.update"] !== undefined) await save()
    for (const event of translate(library, batch, personOf(auth.creds.me?.id ?? ""))) {
      if (event._tag === "SeenMessage") reachable.add(event.chatId)
      events.unsafeOffer(event)
    }
    if (batch["connection.update"] !== undefined) await connectionChanged(batch["connection.update"])
  })

  socket.ws.on("CB:ack,class:message", (node: unknown) => {
    const ack = Option.getOrUndefined(Ack(node))
    const answer = ack === undefined ? undefined : unanswered.get(ack.attrs.id)
    if (ack === undefined || answer === undefined) return
    unanswered.delete(ack.attrs.id)
    Deferred.unsafeDone(answer, ack.attrs.error === undefined ? Exit.void : Exit.fail(refusal(ack.attrs.error)))
  })

  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      close(Option.none())
      await socket.end(undefined)
    }).pipe(Effect.timeout("5 seconds"), Effect.ignoreLogged)
  )

  const asked = <A>(call: () => Promise<A>) =>
    Effect.tryPromise({ try: call, catch: () => failure("unavailable", "the platform did not answer") })

  /** Messages to numbers that nobody has are what gets accounts restricted. */
  const mustExist = Effect.fn("PlatformA.mustExist")(function* (address: string) {
    if (isGroup(address) || address.endsWith("@lid") || reachable.has(address)) return
    const found = yield* asked(() => socket.onWhatsApp(address))
    if (found?.some(({ exists }) => exists) !== true) {
      return yield* failure("unknown_user", "nobody on the platform has this number")
    }
    reachable.add(address)
  })

  const send = Effect.fn("PlatformA.send")(function* (message: {
    readonly to: string
    readonly body: string
    readonly clientId: string
  }) {
    if (isClosed) return yield* failure("unavailable", "the connection ended")
    const address = recipient("platform_a", message.to)
    if (Either.isLeft(address)) return yield* failure("unknown_user", "no address of the platform")
    const chatId = address.right
    yield* mustExist(chatId)
    const platformMessageId = sentId(message.clientId)
    const answer = yield* Deferred.make<void, PlatformFailure>()
    unanswered.set(platformMessageId, answer)
    yield* asked(() => socket.sendMessage(chatId, { text: message.body }, { messageId: platformMessageId })).pipe(
      Effect.zipRight(Deferred.await(answer)),
      Effect.timeoutFail({
        duration: ackPatience,
        onTimeout: () => failure("unavailable", "the platform has not said that it has the message")
      }),
      Effect.ensuring(Effect.sync(() => unanswered.delete(platformMessageId)))
    )
    return { chatId, platformMessageId, timestamp: yield* DateTime.now }
  })

  const typing = (chatId: string, isTyping: boolean) =>
    Effect.asVoid(asked(() => socket.sendPresenceUpdate(isTyping ? "composing" : "paused", chatId)))

  return { events, send, typing: Option.some(typing) }
})
