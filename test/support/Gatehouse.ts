import { type ChildProcess, spawn } from "node:child_process"
import { createServer } from "node:net"
import { Data, Effect, Random, Schedule, type Scope } from "effect"

export class NotReady extends Data.TaggedError("NotReady")<{ readonly output: string }> {}

/** The program as a user runs it: the built bundle in a process of its own. */
export interface Gatehouse {
  readonly url: string
  readonly process: ChildProcess
  readonly output: () => string
  readonly exit: Effect.Effect<number | null>
}

const isFree = (port: number) =>
  Effect.async<boolean>((resume) => {
    const server = createServer().once("error", () => resume(Effect.succeed(false)))
    server.listen(port, "127.0.0.1", () => server.close(() => resume(Effect.succeed(true))))
  })

/** Below the ports that the system gives to whoever asks for any, so that nobody gets it before it is used. */
export const freePort: Effect.Effect<number> = Random.nextIntBetween(12_000, 32_000).pipe(
  Effect.repeat({ until: isFree })
)

/** Settings that every started program gets unless a test says otherwise. */
export const secrets = {
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
  ADMIN_JWT_SECRET: "a-secret-of-the-tests-that-is-long-enough",
  OPERATOR_EMAIL: "operator@example.com",
  OPERATOR_PASSWORD: "correct horse battery staple",
  WEBHOOK_ALLOW_PRIVATE: "true"
}

const exited = (child: ChildProcess) =>
  Effect.async<number | null>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.succeed(child.exitCode))
    child.once("exit", (code) => resume(Effect.succeed(code)))
  })

const built = "dist/gatehouse.mjs"

/** Runs `gatehouse <args>` with exactly these settings; ended with the scope. */
export const run = (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  bundle = built
): Effect.Effect<Omit<Gatehouse, "url">, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, [bundle, ...args], {
        env: { PATH: process.env["PATH"] ?? "", ...env },
        stdio: ["ignore", "pipe", "pipe"]
      })
      let output = ""
      child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()))
      child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()))
      return { process: child, output: () => output, exit: exited(child) }
    }),
    (program) =>
      Effect.zipRight(
        Effect.sync(() => program.process.kill("SIGTERM")),
        program.exit.pipe(
          Effect.timeout("20 seconds"),
          Effect.catchTag("TimeoutException", () => Effect.sync(() => program.process.kill("SIGKILL")))
        )
      )
  )

const answers = (url: string) =>
  Effect.tryPromise(() => fetch(`${url}/readyz`).then((response) => response.status)).pipe(
    Effect.filterOrFail((status) => status === 200)
  )

/** Starts `gatehouse serve`, on a free port unless one is given, and waits until it is ready. */
export const serve = Effect.fn("Gatehouse.serve")(function* (env: Readonly<Record<string, string>>, bundle = built) {
  const port = env["PORT"] ?? String(yield* freePort)
  const url = `http://127.0.0.1:${port}`
  const program = yield* run(["serve"], { ...secrets, ...env, PORT: port }, bundle)
  yield* answers(url).pipe(
    Effect.retry(Schedule.spaced("100 millis")),
    Effect.raceFirst(Effect.flatMap(program.exit, () => new NotReady({ output: program.output() }))),
    Effect.timeoutFail({ duration: "60 seconds", onTimeout: () => new NotReady({ output: program.output() }) })
  )
  return { ...program, url } satisfies Gatehouse
})

/** `kill -9`: no finalizer, no flush. */
export const kill9 = (program: Omit<Gatehouse, "url">) =>
  Effect.zipRight(
    Effect.sync(() => program.process.kill("SIGKILL")),
    program.exit
  )
