import { Effect, Option, Redacted } from "effect"
import type { AuthenticationCreds, SignalDataTypeMap, SignalKeyStore } from "baileys"
import { type Key, type KeyChange, type NotOwner, SessionVault } from "../SessionVault.ts"
import type { Library } from "./SilentLibrary.ts"

/** The session as the library wants it: credentials that it changes in place, and keys that it asks for by promise. */
export interface AuthState {
  readonly creds: AuthenticationCreds
  readonly keys: SignalKeyStore
  /** Stores the credentials as they stand. */
  readonly save: Effect.Effect<void, NotOwner>
  /** Keys of the driver's own, of one kind, as they were when the session was opened. */
  readonly kept: (kind: string) => Effect.Effect<ReadonlyArray<Key>>
  /** A key of the driver's own that is written together with the next change of the session, or by `flush`. */
  readonly stage: (change: KeyChange) => void
  readonly flush: Effect.Effect<void, NotOwner>
}

type Run = <A, E>(effect: Effect.Effect<A, E>) => Promise<A>

/** Whether the phone has linked us: what there was before that is not kept, it goes with the attempt. */
export const isLinked = (creds: AuthenticationCreds): boolean => creds.account !== undefined && creds.me !== undefined

const appStateKey = "app-state-sync-key"

/** Every failure of the database ends the operation that needed the key: it is never answered as "no such key". */
export const openAuthState = Effect.fn("AuthState.open")(function* (
  { BufferJSON, initAuthCreds, proto }: Library,
  channelId: string,
  run: Run
) {
  const vault = yield* SessionVault
  const write = (value: unknown) => JSON.stringify(value, BufferJSON.replacer)
  const read = (text: Redacted.Redacted<string>) => JSON.parse(Redacted.value(text), BufferJSON.reviver)
  const revived = (kind: string, text: Redacted.Redacted<string>) =>
    kind === appStateKey ? proto.Message.AppStateSyncKeyData.fromObject(read(text)) : read(text)

  const stored = Option.map(yield* vault.credentials(channelId), (text): AuthenticationCreds => read(text))
  const linked = Option.filter(stored, isLinked)
  if (Option.isNone(linked)) yield* vault.forget(channelId)
  const claim = yield* vault.claim(channelId)
  const creds = Option.getOrElse(linked, initAuthCreds)
  const staged = new Map<string, KeyChange>()

  const keysOf = Effect.fn("AuthState.keysOf")(function* <T extends keyof SignalDataTypeMap>(
    kind: T,
    ids: ReadonlyArray<string>
  ) {
    const found: { [id: string]: SignalDataTypeMap[T] } = {}
    for (const { keyId, value } of yield* vault.keys(channelId, kind, ids)) found[keyId] = revived(kind, value)
    return found
  })

  /** What is staged stays so until a transaction with it has committed. */
  const writeKeys = Effect.fn("AuthState.writeKeys")(function* (changes: ReadonlyArray<KeyChange>) {
    const own = [...staged]
    yield* vault.write(claim, { credentials: Option.none(), keys: [...changes, ...own.map(([, change]) => change)] })
    for (const [place, change] of own) if (staged.get(place) === change) staged.delete(place)
  })

  const keys: SignalKeyStore = {
    get: (kind, ids) => run(keysOf(kind, ids)),
    set: (data) =>
      run(
        writeKeys(
          Object.entries(data).flatMap(([kind, values]) =>
            Object.entries(values).map(([keyId, value]) => ({
              kind,
              keyId,
              value: value === null || value === undefined ? null : write(value)
            }))
          )
        )
      )
  }

  const save = Effect.suspend(() =>
    isLinked(creds)
      ? vault.write(claim, { credentials: Option.some(Redacted.make(write(creds))), keys: [] })
      : Effect.void
  )

  return {
    creds,
    keys,
    save,
    kept: (kind) => vault.keysOfKind(channelId, kind),
    stage: (change) => void staged.set(`${change.kind}/${change.keyId}`, change),
    flush: Effect.suspend(() => (staged.size === 0 ? Effect.void : writeKeys([])))
  } satisfies AuthState
})
