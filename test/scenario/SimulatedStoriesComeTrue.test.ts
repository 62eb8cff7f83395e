import { mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { it } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import * as Gatehouse from "../support/Gatehouse.ts"
import { printed } from "../support/Shell.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const document = readFileSync(new URL("../../src/simulator/Stories.md", import.meta.url), "utf8")

/** A command of the document, and what it says that the command prints. */
interface Step {
  readonly command: string
  readonly expected: string
}

const steps = [...document.matchAll(/```console\n(.*?)```/gs)]
  .flatMap(([, block = ""]) => block.split(/^\$ /m).slice(1))
  .map((text): Step => {
    const [command = "", ...expected] = text.trimEnd().split("\n")
    return { command, expected: expected.join("\n") }
  })

it.live(
  "every command of the simulators' stories answers as the document says",
  () =>
    Effect.scoped(
      Effect.gen(function* () {
        const directory = mkdtempSync(join(tmpdir(), "gatehouse-stories-"))
        const [storeA, storeB, program] = [
          yield* Gatehouse.freePort,
          yield* Gatehouse.freePort,
          yield* Gatehouse.freePort
        ]
        const ports = `--store-a-port ${storeA} --store-b-port ${storeB} --platform-b-port 0 --provider-port 0`
        const here = (command: string) =>
          command
            .replace("127.0.0.1:9101", `127.0.0.1:${storeA}`)
            .replace("127.0.0.1:9104", `127.0.0.1:${storeB}`)
            .replace("127.0.0.1:8080", `127.0.0.1:${program}`)
            .replace("simulate --seconds", `simulate ${ports} --root-file ${directory}/simulated-root.pem --seconds`)
            .replace("./data/", `${directory}/`)
            .replace(/(\w+\.log)/, `${directory}/$1`)
        const script = steps.map(({ command }, nth) => `echo "@@${nth}@@"\n${here(command)}`).join("\n")
        const output = yield* printed(`${script}\nkill $(jobs -p)`, {
          ...Gatehouse.secrets,
          PATH: process.env["PATH"] ?? "",
          PORT: String(program),
          DATABASE_URL: yield* TestDatabase.url
        })
        const answers = output
          .split(/^@@\d+@@$/m)
          .slice(1)
          .map((text) => text.trim())
        assertTrue(steps.length > 40)
        strictEqual(answers.length, steps.length)
        deepStrictEqual(
          steps.map(({ command }, nth) => ({ command, expected: answers[nth] ?? "" })),
          steps.map(({ command, expected }) => ({ command, expected }))
        )
      })
    ),
  400_000
)
