import { spawn } from "node:child_process"

/** The Effect diagnostics are one thread for minutes: each half of the files has a process of its own. */
const diagnostics = (half) => [
  "diagnostics",
  "--project",
  `.config/tsconfig.${half}.json`,
  "--strict",
  "--format",
  "text"
]

const steps = [
  ["effect, test", "effect-language-service", diagnostics("test")],
  ["effect, src", "effect-language-service", diagnostics("src")],
  ["types", "tsc", ["--noEmit"]],
  ["lint", "eslint", ["-c", ".config/eslint.config.mjs", "--max-warnings", "0", "src", "test"]],
  ["format", "prettier", ["--check", "--log-level", "warn", "."]]
]

const run = ([name, command, args]) =>
  new Promise((resolve) => {
    const child = spawn("npx", ["--no-install", command, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, NODE_OPTIONS: "--max-semi-space-size=64" }
    })
    let output = ""
    child.stdout.on("data", (chunk) => (output += chunk))
    child.stderr.on("data", (chunk) => (output += chunk))
    child.on("close", (code) => resolve({ name, code, output }))
  })

const results = await Promise.all(steps.map(run))
for (const { code, name, output } of results) {
  if (code !== 0) process.stdout.write(`--- ${name}\n${output}\n`)
  process.stdout.write(`${code === 0 ? "ok   " : "WRONG"} ${name}\n`)
}
process.exitCode = results.every(({ code }) => code === 0) ? 0 : 1
