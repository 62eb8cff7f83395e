import { Data, Effect } from "effect"
import { spawn } from "node:child_process"
import type { ChildProcess, SpawnOptions } from "node:child_process"

export class SpawnFailed extends Data.TaggedError("SpawnFailed")<{ readonly message: string; readonly code: string }> {}

const spawnFailed = (error: NodeJS.ErrnoException) =>
  new SpawnFailed({ message: error.message, code: error.code ?? "unknown" })

export interface Finished {
  readonly exitCode: number
  readonly output: string
}

/** Runs a program to its end and gathers what it says. Interruption kills it. */
export const run = (command: string, args: ReadonlyArray<string>, options: SpawnOptions) =>
  Effect.async<Finished, SpawnFailed>((resume) => {
    const chunks: Array<string> = []
    const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] })
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk.toString()))
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk.toString()))
    child.once("error", (error) => resume(Effect.fail(spawnFailed(error))))
    child.once("close", (exitCode) => resume(Effect.succeed({ exitCode: exitCode ?? 1, output: chunks.join("") })))
    return Effect.sync(() => {
      child.kill("SIGKILL")
    })
  })

/** Starts a program that outlives interruption, in a session of its own: the terminal's Ctrl-C does not reach it. */
export const launch = (command: string, args: ReadonlyArray<string>, options: SpawnOptions) =>
  Effect.async<ChildProcess, SpawnFailed>((resume) => {
    const child = spawn(command, args, { ...options, detached: true })
    child.on("error", (error) => resume(Effect.fail(spawnFailed(error))))
    child.once("spawn", () => {
      child.unref()
      resume(Effect.succeed(child))
    })
  }).pipe(Effect.uninterruptible)

export const isRunning = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null

/** Answers whether there was such a process to signal; one of another user counts as there. */
export const signal = (pid: number, name: NodeJS.Signals | 0): Effect.Effect<boolean> =>
  Effect.try({
    try: () => process.kill(pid, name),
    catch: (error) => error instanceof Error && "code" in error && error.code === "EPERM"
  }).pipe(Effect.merge)
