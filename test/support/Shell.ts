import { spawn } from "node:child_process"
import { Effect } from "effect"

/** What a shell prints for a script; what it started and did not end ends with the scope. */
export const printed = (script: string, env: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => spawn("bash", ["-c", script], { env, detached: true, stdio: ["ignore", "pipe", "pipe"] })),
    ({ pid }) => Effect.ignore(Effect.try(() => pid !== undefined && process.kill(-pid, "SIGTERM")))
  ).pipe(
    Effect.flatMap((shell) =>
      Effect.async<string>((resume) => {
        let output = ""
        shell.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()))
        shell.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()))
        shell.once("exit", () => resume(Effect.sync(() => output)))
      })
    )
  )
