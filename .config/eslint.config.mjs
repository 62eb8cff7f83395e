import { dirname, relative, resolve, sep } from "node:path"
import { fileURLToPath } from "node:url"
import importX from "eslint-plugin-import-x"
import tseslint from "typescript-eslint"

const src = resolve(dirname(fileURLToPath(import.meta.url)), "..", "src")

/** What a file is, from its place: the rows of the architecture's table. */
const kindOf = (path) => {
  const parts = path.split(sep)
  const [context, folder] = parts
  const file = parts.at(-1)
  if (parts.length === 1) return "root"
  if (["cli", "simulator", "http", "sql", "redis", "kit", "api"].includes(context)) return context
  if (folder === "domain") return "domain"
  if (folder === "actor") return "actor"
  if (["store-a", "store-b", "platform-a", "platform-b", "chat-completions"].includes(folder)) return "driver"
  if (file.endsWith("Http.ts")) return "route"
  if (file.endsWith("Repo.ts")) return "repo"
  return "service"
}

/** Kinds that each kind may import, besides its own drivers' and actors' neighbours. */
const allowed = {
  domain: ["domain"],
  api: ["api", "domain"],
  repo: ["domain", "kit", "sql", "service"],
  service: ["service", "domain", "repo", "actor", "kit", "sql", "redis"],
  actor: ["service", "domain", "repo", "actor", "kit"],
  route: ["route", "service", "domain", "api", "http"],
  driver: ["driver", "service", "domain", "kit"],
  http: ["http", "api", "service", "domain", "kit"],
  kit: ["kit"],
  sql: ["sql", "kit"],
  redis: ["redis"],
  simulator: ["simulator", "domain"],
  cli: ["cli", "service", "simulator", "kit", "sql", "redis", "http"]
}

/** Contexts that a context may import. */
const upstream = {
  identity: [],
  webhook: [],
  platform: [],
  catalog: ["identity"],
  store: ["catalog"],
  reply: ["webhook", "platform"],
  subscription: ["store", "catalog", "webhook", "identity"],
  channel: ["platform", "reply", "webhook", "identity"]
}

/** Each with its reason. */
const exceptions = {
  "simulator>platform/platform-a/SilentLibrary.ts":
    "the simulator speaks the protocol with the driver's library, which must be silenced before it is imported",
  "webhook/actor/WakeEndpoints.ts>repo": "asks which endpoints have something due, before any service exists",
  "channel/actor/WakeChannels.ts>repo": "asks which channels must live, before any service exists"
}

const directions = {
  create(context) {
    const here = relative(src, context.filename)
    if (here.startsWith("..")) return {}
    const kind = kindOf(here)
    return {
      ImportDeclaration(node) {
        const source = node.source.value
        if (kind === "domain" && /^(@effect\/|node:(?!crypto))/.test(source)) {
          context.report({ node, message: `domain is pure: no ${source}` })
        }
        if (!source.startsWith(".") || !source.endsWith(".ts")) return
        const there = relative(src, resolve(dirname(context.filename), source))
        const target = kindOf(there)
        if (kind === "root" || target === "root") {
          if (there === "Program.ts" && kind !== "cli")
            context.report({ node, message: "only the command line imports Program" })
          return
        }
        const isExcepted = [`${here}>${target}`, `${kind}>${there}`].some((rule) => exceptions[rule] !== undefined)
        if (!allowed[kind].includes(target) && !isExcepted) {
          context.report({ node, message: `a ${kind} may not import a ${target} (${there})` })
        }
        const [from, to] = [here.split(sep)[0], there.split(sep)[0]]
        const contexts = upstream[from]
        if (contexts !== undefined && upstream[to] !== undefined && from !== to && !contexts.includes(to)) {
          context.report({ node, message: `${from} does not depend on ${to}` })
        }
        const foreignRepo = kind === "service" && target === "repo" && from !== to && !here.endsWith("Context.ts")
        if (foreignRepo) context.report({ node, message: `the repositories of ${to} are its own` })
      }
    }
  }
}

const fileNames = {
  create(context) {
    const name = context.filename.split(sep).at(-1)
    return {
      Program(node) {
        const isGood =
          /^[A-Z][A-Za-z0-9]*(\.test|\.smoke\.test)?\.ts$|^\d{4}_[a-z]+\.ts$|^(main|vitest\.config)\.ts$/.test(name)
        if (!isGood || /^(Index|Utils?|Helpers?|Types|Common|Misc)\.ts$/i.test(name)) {
          context.report({ node, message: `a file is named after its main export: ${name}` })
        }
      }
    }
  }
}

const ban = (selector, message) => ({ selector, message })

const bans = [
  ban("TSAsExpression:not([typeAnnotation.typeName.name='const'])", "decode or narrow, do not cast"),
  ban("TSNonNullExpression", "no non-null assertions"),
  ban("TSAnyKeyword", "no any"),
  ban("CallExpression[callee.object.name='console']", "log by Effect.log*"),
  ban("CallExpression[callee.object.name='Effect'][callee.property.name='forkDaemon']", "no detached fibers"),
  ban(
    "CallExpression[callee.object.name='Effect'][callee.property.name=/^(ignore|run[A-Z].*)$/]",
    "handle by tag; run at the edge"
  ),
  ban("Property[key.name='concurrency'][value.value='unbounded']", "bounded concurrency"),
  ban("CallExpression[callee.object.name='Queue'][callee.property.name='unbounded']", "bounded queues"),
  ban("Property[key.name=/^(accessors|dependencies)$/]", "yield the service, wire in Program")
]
const srcBans = [
  ban("ThrowStatement", "return yield* an error"),
  ban("CallExpression[callee.object.name='Date'][callee.property.name='now']", "ask the Clock"),
  ban("CallExpression[callee.object.name='Math'][callee.property.name='random']", "ask Random"),
  ban("CallExpression[callee.name=/^(setTimeout|setInterval)$/]", "sleep by Effect")
]
const catchAllCause = ban(
  "CallExpression[callee.object.name='Effect'][callee.property.name=/^catchAll(Cause|Defect)$/]",
  "causes are looked at in the error envelope only"
)
const newDate = ban("NewExpression[callee.name='Date'][arguments.length=0]", "ask the Clock")
const processEnv = ban("MemberExpression[object.name='process'][property.name='env']", "settings come from Config")

const plugins = { "import-x": importX, house: { rules: { directions, fileNames } } }
const language = { parser: tseslint.parser }

export default [
  {
    files: ["src/**/*.ts"],
    languageOptions: language,
    plugins,
    rules: {
      "house/directions": "error",
      "house/fileNames": "error",
      "import-x/no-cycle": "error",
      "max-lines": ["error", { max: 300 }],
      "no-restricted-syntax": ["error", ...bans, ...srcBans, catchAllCause, newDate, processEnv]
    },
    settings: {
      "import-x/resolver-next": [importX.createNodeResolver({ extensions: [".ts"] })],
      "import-x/extensions": [".ts"],
      "import-x/parsers": { "@typescript-eslint/parser": [".ts"] }
    }
  },
  {
    files: ["src/http/ErrorEnvelope.ts"],
    rules: { "no-restricted-syntax": ["error", ...bans, ...srcBans, newDate, processEnv] }
  },
  {
    files: ["src/simulator/**/*.ts"],
    rules: { "no-restricted-syntax": ["error", ...bans, catchAllCause, processEnv] }
  },
  {
    files: ["test/**/*.ts"],
    languageOptions: language,
    plugins,
    rules: {
      "house/fileNames": "error",
      "max-lines": ["error", { max: 400 }],
      "no-restricted-syntax": [
        "error",
        ban(
          "CallExpression[callee.object.name=/^(it|test|describe)$/][callee.property.name=/^(only|skip|todo)$/]",
          "no skipped tests"
        ),
        ban(
          "CallExpression[callee.object.name='assert'][callee.property.name='deepStrictEqual']",
          "chai's takes any two Options for equal: deepStrictEqual of @effect/vitest/utils"
        )
      ]
    }
  }
]
