import type { proto, SignalDataTypeMap, SignalKeyStore } from "baileys"
import type { Library } from "../../platform/platform-a/SilentLibrary.ts"

type Logger = Parameters<Library["addTransactionCapability"]>[1]

const silent = () => undefined
const logger: Logger = {
  level: "silent",
  child: () => logger,
  trace: silent,
  debug: silent,
  info: silent,
  warn: silent,
  error: silent
}

/** What a device publishes, so that others can write to it. */
export interface Bundle {
  readonly registrationId: number
  readonly identity: Uint8Array
  readonly signedPreKey: { readonly id: number; readonly value: Uint8Array; readonly signature: Uint8Array }
  readonly preKeys: Array<{ readonly id: number; readonly value: Uint8Array }>
}

const makeMemory = (): SignalKeyStore => {
  const rows = new Map<string, SignalDataTypeMap[keyof SignalDataTypeMap]>()
  return {
    get: <T extends keyof SignalDataTypeMap>(kind: T, ids: Array<string>) => {
      const found: { [id: string]: SignalDataTypeMap[T] } = {}
      for (const id of ids) {
        const row: unknown = rows.get(`${kind}/${id}`)
        if (row !== undefined) Object.assign(found, { [id]: row })
      }
      return found
    },
    set: (data) => {
      for (const [kind, values] of Object.entries(data)) {
        for (const [id, value] of Object.entries(values)) {
          if (value === null || value === undefined) rows.delete(`${kind}/${id}`)
          else rows.set(`${kind}/${id}`, value)
        }
      }
    }
  }
}

const versioned = (key: Uint8Array) => (key.length === 33 ? key : Buffer.concat([Buffer.from([5]), key]))

/**
 * Somebody with a phone: the platform's own protocol end to end, keys and all. `phone` is the number, `alias` the name that
 * hides it; everyone is written to by the alias.
 */
export const makePerson = (library: Library, phone: string, name: string) => {
  const creds = library.initAuthCreds()
  const keys = library.addTransactionCapability(makeMemory(), logger, {
    maxCommitRetries: 1,
    delayBetweenTriesMs: 10
  })
  const repository = library.DEFAULT_CONNECTION_CONFIG.makeSignalRepository({ creds, keys }, logger)
  const address = `${phone}@s.whatsapp.net`
  const alias = `9${phone}@lid`
  let nextPreKey = 1
  const known = new Set<string>()

  return {
    phone,
    name,
    address,
    alias,
    creds,
    /** A key of its own for each who wants to write to this person for the first time. */
    bundle: async (): Promise<Bundle> => {
      const id = nextPreKey++
      const pair = library.Curve.generateKeyPair()
      await keys.set({ "pre-key": { [id]: pair } })
      return {
        registrationId: creds.registrationId,
        identity: creds.signedIdentityKey.public,
        signedPreKey: {
          id: creds.signedPreKey.keyId,
          value: creds.signedPreKey.keyPair.public,
          signature: creds.signedPreKey.signature
        },
        preKeys: [{ id, value: pair.public }]
      }
    },
    /** `device` is the alias of the device that is written to. */
    encrypt: async (device: string, bundle: Bundle, message: proto.IMessage) => {
      if (!known.has(device)) {
        const preKey = bundle.preKeys.shift()
        await repository.injectE2ESession({
          jid: device,
          session: {
            registrationId: bundle.registrationId,
            identityKey: versioned(bundle.identity),
            signedPreKey: {
              keyId: bundle.signedPreKey.id,
              publicKey: versioned(bundle.signedPreKey.value),
              signature: bundle.signedPreKey.signature
            },
            ...(preKey === undefined ? {} : { preKey: { keyId: preKey.id, publicKey: versioned(preKey.value) } })
          }
        })
        known.add(device)
      }
      return repository.encryptMessage({ jid: device, data: library.encodeWAMessage(message) })
    },
    decrypt: async (device: string, type: "pkmsg" | "msg", ciphertext: Uint8Array) => {
      known.add(device)
      const opened = await repository.decryptMessage({ jid: device, type, ciphertext })
      return library.proto.Message.decode(library.unpadRandomMax16(opened))
    },
    learnGroupKey: (device: string, item: proto.Message.ISenderKeyDistributionMessage) =>
      repository.processSenderKeyDistributionMessage({ item, authorJid: device }),
    decryptGroup: async (device: string, group: string, msg: Uint8Array) => {
      const opened = await repository.decryptGroupMessage({ group, authorJid: device, msg })
      return library.proto.Message.decode(library.unpadRandomMax16(opened))
    },
    /** The next message begins a new session, as after a reinstallation. */
    forget: (device: string) => known.delete(device)
  }
}

export type Person = ReturnType<typeof makePerson>
