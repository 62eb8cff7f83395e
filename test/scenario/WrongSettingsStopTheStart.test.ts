import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Gatehouse from "../support/Gatehouse.ts"

const cases: ReadonlyArray<readonly [Record<string, string>, string]> = [
  [{ PORT: "eighty" }, "gatehouse: PORT must be a whole number from 1 to 65535"],
  [{ REGISTRATION: "maybe" }, "gatehouse: REGISTRATION must be open or closed"],
  [
    { ENCRYPTION_KEY: "short" },
    "gatehouse: ENCRYPTION_KEY must be base64 of 32 bytes, or several of them separated by commas"
  ],
  [
    { DATABASE_URL: "mysql://x" },
    "gatehouse: DATABASE_URL must be a URL that begins with postgres:// or postgresql://"
  ],
  [{ DATABASE_URL: "postgres://127.0.0.1:1/x" }, "gatehouse: ENCRYPTION_KEY is required with DATABASE_URL"],
  [{ PLATFORM_B_POLL_SECONDS: "0" }, "gatehouse: PLATFORM_B_POLL_SECONDS must be a whole number from 1 to 3600"],
  [
    { STORE_A_ROOT_CERTIFICATES: "/no/such.pem", DATABASE_URL: "postgres://127.0.0.1:1/x", ...Gatehouse.secrets },
    "gatehouse: "
  ]
]

describe("a wrong setting stops the start with one line", () => {
  for (const [env, line] of cases) {
    it.live(JSON.stringify(env).slice(0, 80), () =>
      Effect.scoped(
        Effect.gen(function* () {
          const program = yield* Gatehouse.run(["serve"], env)
          assert.strictEqual(yield* program.exit, 1)
          const lines = program.output().trim().split("\n")
          assert.strictEqual(lines.length, 1, program.output())
          assert.isTrue(lines[0]?.startsWith(line), lines[0])
        })
      )
    )
  }

  it.live("--help lists every setting", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const program = yield* Gatehouse.run(["--help"], { PORT: "wrong" })
        assert.strictEqual(yield* program.exit, 0)
        for (const name of ["PORT", "DATABASE_URL", "ENCRYPTION_KEY", "WEBHOOK_ALLOW_PRIVATE"]) {
          assert.include(program.output(), name)
        }
      })
    )
  )
})
