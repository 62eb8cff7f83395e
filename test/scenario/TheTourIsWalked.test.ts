import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { it } from "@effect/vitest"
import { assertInclude, assertMatch, assertTrue, strictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import * as Gatehouse from "../support/Gatehouse.ts"
import { printed } from "../support/Shell.ts"

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8")
const tour = /## Five minutes with curl\n(.*?)\n## /s.exec(readme)?.[1] ?? ""
const blocks = [...tour.matchAll(/```sh\n(.*?)```/gs)].map(([, block = ""]) => block)

const hasTools = (() => {
  try {
    execFileSync("jq", ["--version"])
    return true
  } catch {
    return false
  }
})()

/** What the README waits for, instead of the seconds that it waits. */
const waits = new Map([
  [
    "sleep 3; ",
    `until curl -s $B/v1/accounts/$ACC -H "authorization: Bearer $OP" | grep -q 'last_synced_at":"'; do sleep 0.2; done; `
  ],
  [
    "sleep 9; ",
    `until curl -s $B/v1/ai/logs -H "authorization: Bearer $OP" | grep -q 'status":"sent"'; do sleep 0.2; done; `
  ]
])

const ready = (url: string) => `until curl -sf ${url}/readyz > /dev/null; do sleep 0.2; done`

it.live.skipIf(!hasTools)(
  "every command of the tour does what the README says",
  () =>
    Effect.scoped(
      Effect.gen(function* () {
        const directory = mkdtempSync(join(tmpdir(), "gatehouse-tour-"))
        const ports = new Map<string, number>()
        for (const port of ["8080", "9101", "9102", "9103", "9104"]) ports.set(port, yield* Gatehouse.freePort)
        const at = (port: string) => String(ports.get(port) ?? port)
        const here = (block: string) =>
          block
            .replace("npm run build\n", "")
            .replace(/127\.0\.0\.1:(\d+)/g, (_, port: string) => `127.0.0.1:${at(port)}`)
            .replace(
              "simulate &",
              `simulate --store-a-port ${at("9101")} --platform-b-port ${at("9102")} --provider-port ${at("9103")} ` +
                `--store-b-port ${at("9104")} --root-file ${directory}/simulated-root.pem > ${directory}/simulators.log &
              until test -s ${directory}/simulators.log; do sleep 0.2; done`
            )
            .replace("./data/", `${directory}/`)
            .replace("gatehouse.mjs serve", `gatehouse.mjs serve > ${directory}/program.log 2>&1 &`)
        const [begin = "", purchase = "", bootstrap = "", talk = ""] = blocks.map(here)
        const message = [...waits].reduce((block, [seconds, event]) => {
          assertInclude(block, seconds)
          return block.replace(seconds, () => event)
        }, talk)
        const script = [
          begin,
          ready(`http://127.0.0.1:${at("8080")}`),
          ...[purchase, bootstrap, message].map((block) => `echo @@\n${block}`),
          "kill $(jobs -p); wait"
        ].join("\n")
        const output = yield* printed(script, {
          PATH: process.env["PATH"] ?? "",
          HOME: directory,
          PORT: at("8080"),
          DATA_DIR: join(directory, "data")
        })
        const [, subscriber = "", changes = "", reply = ""] = output.split("@@\n")
        strictEqual(blocks.length, 4)
        assertMatch(subscriber, /"entitlements":\{"pro":\{"is_active":true/)
        assertMatch(changes, /"created": 3,\s*"updated": 1,/)
        assertMatch(changes, /"USD": 9.99/)
        assertInclude(changes, "bootstrap.bootstrap")
        assertMatch(reply, /"status":"sent"/)
        assertTrue(reply.split("Are you open?").length > 1)
      })
    ),
  240_000
)
