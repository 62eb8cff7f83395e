import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { Console, Effect } from "effect"
import { Client } from "pg"
import { Agent, request } from "undici"
import { signatureVerifier } from "../../src/store/store-a/SignedChain.ts"
import { call } from "../support/Api.ts"
import { secrets } from "../support/Gatehouse.ts"
import { checked, notificationServer } from "./NotificationServer.ts"
import { bundleId, signedPurchases } from "./StoreAPayloads.ts"

const perRound = 2_000
const rounds = 3
const lanes = 16

export interface NotificationRow {
  readonly name: string
  readonly ours: number
  readonly baseline: number
  readonly asked: number
}

const answers = (url: string) =>
  fetch(url).then(
    ({ status }) => status !== 503,
    () => false
  )

const ready = (url: string) =>
  Effect.promise(async () => {
    while (!(await answers(url))) await new Promise((resolve) => setTimeout(resolve, 100))
  })

/** A process of its own, so that neither side shares a thread with the callers. */
const running = (args: ReadonlyArray<string>, env: Record<string, string>) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, args, {
        env: { PATH: process.env["PATH"] ?? "", ...env },
        stdio: ["ignore", "ignore", "inherit"]
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGTERM"))
  )

/** Seconds of processor time that a process has used, where the system says so. */
const usedBy = ({ pid }: Pick<ChildProcess, "pid">): number => {
  try {
    const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")
    const fields = rest.split(" ")
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return 0
  }
}

/** The same of all backends of the database, where it is on this machine. */
const usedByDatabase = (): number => {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name) && readFileSync(`/proc/${name}/comm`, "utf8").trim() === "postgres")
      .reduce((sum, name) => sum + usedBy({ pid: Number(name) }), 0)
  } catch {
    return 0
  }
}

/** Posts every payload once; answers how many a second, and the microseconds of processor time that each took. */
const posted = async (url: string, payloads: ReadonlyArray<string>, child: ChildProcess) => {
  const agent = new Agent({ connections: lanes })
  const [startedAt, usedBefore, databaseBefore] = [performance.now(), usedBy(child), usedByDatabase()]
  let next = 0
  const lane = async () => {
    while (next < payloads.length) {
      const body = JSON.stringify({ signedPayload: payloads[next++] })
      const headers = { "content-type": "application/json" }
      const answer = await request(url, { method: "POST", headers, body, dispatcher: agent })
      await answer.body.dump()
      if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  const seconds = (performance.now() - startedAt) / 1000
  await agent.close()
  const each = (used: number) => (used / payloads.length) * 1e6
  return {
    rate: payloads.length / seconds,
    micros: each(usedBy(child) - usedBefore),
    databaseMicros: each(usedByDatabase() - databaseBefore)
  }
}

type Figures = { readonly [Name in "rate" | "micros" | "databaseMicros"]: number }

const best = (figures: ReadonlyArray<Figures>): Figures => ({
  rate: Math.max(...figures.map(({ rate }) => rate)),
  micros: Math.min(...figures.map(({ micros }) => micros)),
  databaseMicros: Math.min(...figures.map(({ databaseMicros }) => databaseMicros))
})

/** `POST /stores/store_a/notifications/{app}` of the built program against a bare server that does what cannot be left out. */
export const notificationBench = (databaseUrl: string): Effect.Effect<NotificationRow> =>
  Effect.gen(function* () {
    const { authority, payloads } = yield* signedPurchases(perRound * rounds)
    const directory = mkdtempSync(join(tmpdir(), "gatehouse-bench-"))
    yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(directory, { recursive: true, force: true })))
    const roots = join(directory, "root.pem")
    writeFileSync(roots, authority.rootPem)
    const url = "http://127.0.0.1:8192"
    const program = yield* running(["dist/gatehouse.mjs", "serve"], {
      ...secrets,
      ...{ DATABASE_URL: databaseUrl, PORT: "8192", LOG_LEVEL: "error", STORE_A_ROOT_CERTIFICATES: roots }
    })
    yield* ready(`${url}/readyz`)
    const registered = yield* call("POST", `${url}/api/v1/auth/register`, {
      body: { name: "Ann", email: `ann.${process.pid}@example.com`, password: "eight characters" }
    })
    const token: string = registered.body.data.token
    const makeApp = (name: string) =>
      Effect.map(
        call("POST", `${url}/api/v1/apps`, { token, body: { name, bundle_id: bundleId } }),
        ({ body }): string => body.data.uuid
      )
    const [ours, theirs] = [yield* makeApp("Ours"), yield* makeApp("Bare")]
    const bare = yield* running([process.argv[1] ?? "", "bare", databaseUrl, theirs], {})
    yield* ready("http://127.0.0.1:8193/")
    const measured: Record<"ours" | "bare", Array<Figures>> = { ours: [], bare: [] }
    for (let round = 0; round < rounds; round++) {
      const part = payloads.slice(round * perRound, (round + 1) * perRound)
      const mine = `${url}/api/v1/stores/store_a/notifications/${ours}`
      measured.ours.push(yield* Effect.promise(() => posted(mine, part, program)))
      measured.bare.push(yield* Effect.promise(() => posted("http://127.0.0.1:8193/", part, bare)))
    }
    const [mine, other] = [best(measured.ours.slice(1)), best(measured.bare.slice(1))]
    yield* Console.error(
      `processor time for each notification, program + database: ${other.micros.toFixed(0)} + ` +
        `${other.databaseMicros.toFixed(0)} µs bare, ${mine.micros.toFixed(0)} + ${mine.databaseMicros.toFixed(0)} µs ours`
    )
    return { name: "store A notifications accepted, 1/s", ours: mine.rate, baseline: other.rate, asked: 0.5 }
  }).pipe(Effect.scoped)

/** The verifier alone against the bare signature checks of the same bytes, on one thread. */
export const verifierBench: Effect.Effect<NotificationRow> = Effect.gen(function* () {
  const { authority, payloads } = yield* signedPurchases(300)
  const inner = payloads.flatMap((payload) => {
    const { data } = JSON.parse(checked(payload))
    return [payload, data.signedTransactionInfo, data.signedRenewalInfo]
  })
  const verified = signatureVerifier([Buffer.from(authority.chain[2], "base64")])
  const now = Date.now()
  const timed = (check: (jws: string) => unknown) => {
    const startedAt = performance.now()
    for (const jws of inner) check(jws)
    return inner.length / ((performance.now() - startedAt) / 1000)
  }
  const sides = Array.from({ length: 6 }, () => [timed((jws) => verified(jws, now)), timed(checked)] as const).slice(1)
  return {
    name: "signed payloads verified, 1/s",
    ours: Math.max(...sides.map(([ours]) => ours)),
    baseline: Math.max(...sides.map(([, baseline]) => baseline)),
    asked: 0.8
  }
})

/** What `bare` as the first argument starts in place of the measurements. */
export const serveBare = () => {
  const [, , , databaseUrl = "", appId = ""] = process.argv
  notificationServer(databaseUrl, appId).server.listen(8193, "127.0.0.1")
}

const print = ({ asked, baseline, name, ours }: NotificationRow) =>
  Console.log(
    `${name}: ${(ours / baseline).toFixed(2)} (${ours.toFixed(0)} against ${baseline.toFixed(0)}), at least ${asked} asked`
  )

if (basename(process.argv[1] ?? "").startsWith("notification-bench")) {
  if (process.argv[2] === "bare") serveBare()
  else {
    const given = new URL(process.env["DATABASE_URL"] ?? "")
    const client = new Client({ connectionString: given.href })
    await client.connect()
    const name = `gatehouse_bench_${process.pid}`
    await client.query(`CREATE DATABASE ${name}`)
    const own = new URL(given)
    own.pathname = `/${name}`
    await Effect.runPromise(Effect.flatMap(verifierBench, print))
    await Effect.runPromise(Effect.flatMap(notificationBench(own.href), print)).finally(async () => {
      await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
      await client.end()
    })
  }
}
