import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { SignalDataSet } from "baileys"
import { Effect } from "effect"
import { type Library, loadLibrary } from "../../src/platform/platform-a/SilentLibrary.ts"

/**
 * What anybody would write first: a socket of the library for each phone, its keys in files as the library itself keeps
 * them. Prints `open` when all are connected, and holds them until it is ended.
 */
const [socketUrl = "", control = "", directory = "", firstPhone = "0", count = "0"] = process.argv.slice(2)

const silent = () => undefined
const logger = {
  level: "silent",
  child: () => logger,
  trace: silent,
  debug: silent,
  info: silent,
  warn: silent,
  error: silent
}

const scan = (qr: string, phone: string) =>
  fetch(`${control}/_control/scan`, { method: "POST", body: JSON.stringify({ qr, phone }) })

/** Nobody writes to these phones first: of eight hundred keys for that, each a file, only the last is looked for. */
const read = ({ "pre-key": preKeys = {}, ...data }: SignalDataSet): SignalDataSet => ({
  ...data,
  "pre-key": Object.fromEntries(Object.entries(preKeys).slice(-1))
})

const open = async (library: Library, phone: string): Promise<void> => {
  const folder = join(directory, phone)
  mkdirSync(folder, { recursive: true })
  const { saveCreds, state } = await library.useMultiFileAuthState(folder)
  const socket = library.makeWASocket({
    auth: { creds: state.creds, keys: { get: state.keys.get, set: (data) => state.keys.set(read(data)) } },
    waWebSocketUrl: socketUrl,
    logger,
    markOnlineOnConnect: false,
    syncFullHistory: false
  })
  return new Promise((resolve) => {
    socket.ev.on("creds.update", saveCreds)
    socket.ev.on("connection.update", ({ connection, qr }) => {
      if (qr !== undefined) void scan(qr, phone)
      if (connection === "open") resolve()
      if (connection === "close") resolve(saveCreds().then(() => open(library, phone)))
    })
  })
}

const library = await Effect.runPromise(loadLibrary)
for (let nth = 0; nth < Number(count); nth += 1) await open(library, String(Number(firstPhone) + nth))
process.stdout.write("open\n")
