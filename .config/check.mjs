import { spawn } from "node:child_process"

const steps = [
  ["types", "tsc", ["--noEmit"]],
  ["effect", "effect-language-service", ["diagnostics", "--project", "tsconfig.json", "--strict", "--format", "text"]],
  ["lint", "eslint", ["-c", ".config/eslint.config.mjs", "--max-warnings", "0", "src", "test"]],
  ["format", "prettier", ["--check", "--log-level", "warn", "."]]
]

const run = ([name, command, args]) =>
  new Promise((resolve) => {
    const child = spawn("npx", ["--no-install", command, ...args], { stdio: ["ignore", "pipe", "pipe"] })
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
