import { Config, type ConfigError, Data, Duration, Effect, LogLevel, Option } from "effect"
import {
  type Setting,
  setting,
  wholeNumber,
  oneOf,
  flag,
  httpUrl,
  socketUrl,
  version,
  secretUrl,
  optional,
  otherwise,
  text,
  secretText,
  encryptionKeys,
  jwtSecret,
  email,
  paths
} from "./Setting.ts"

/** A setting with a wrong value: one line for the operator that names the variable and what it must be. */
export class SettingWrong extends Data.TaggedError("SettingWrong")<{ readonly message: string }> {}

/** Every setting of the program: `--help` and the README print this list. */
export const settings = {
  port: setting("PORT", "port", "8080", "port of both APIs", otherwise(wholeNumber(1, 65_535), 8080)),
  host: setting("HOST", "address", "127.0.0.1", "address to listen on", otherwise(text, "127.0.0.1")),
  publicUrl: setting(
    "PUBLIC_URL",
    "URL",
    "http://HOST:PORT",
    "what links and the push audience are built from",
    optional(httpUrl)
  ),
  databaseUrl: setting(
    "DATABASE_URL",
    "URL",
    "none: embedded",
    "PostgreSQL 14 or newer",
    optional(secretUrl("postgres:", "postgresql:"))
  ),
  redisUrl: setting(
    "REDIS_URL",
    "URL",
    "none: in process",
    "Redis 6.2 or newer",
    optional(secretUrl("redis:", "rediss:"))
  ),
  dataDir: setting("DATA_DIR", "path", "./data", "embedded database and generated secrets", otherwise(text, "./data")),
  encryptionKeys: setting(
    "ENCRYPTION_KEY",
    "base64",
    "generated in DATA_DIR; required with DATABASE_URL",
    "base64 of 32 bytes; a comma-separated list rotates: the first encrypts, all decrypt",
    optional(encryptionKeys)
  ),
  adminJwtSecret: setting(
    "ADMIN_JWT_SECRET",
    "text",
    "generated in DATA_DIR; required with DATABASE_URL",
    "at least 32 bytes; signs operator tokens",
    optional(jwtSecret)
  ),
  operatorEmail: setting(
    "OPERATOR_EMAIL",
    "e-mail",
    "operator@localhost",
    "the first operator, a user with a workspace who may also run the gateway",
    otherwise(email, "operator@localhost")
  ),
  operatorPassword: setting(
    "OPERATOR_PASSWORD",
    "text",
    "generated and printed once",
    "password of the first operator",
    optional(secretText)
  ),
  registration: setting(
    "REGISTRATION",
    "open, closed",
    "open",
    "closed refuses POST /auth/register once the first user exists",
    otherwise(oneOf("open", "closed"), "open" as const)
  ),
  trustProxy: setting(
    "TRUST_PROXY",
    "true, false",
    "false",
    "whether X-Forwarded-For names the caller in rate limits",
    otherwise(flag, false)
  ),
  retentionDays: setting(
    "RETENTION_DAYS",
    "days",
    "90",
    "age at which deliveries, attempts, AI logs and applied notifications are pruned; 0 keeps them",
    otherwise(wholeNumber(0, 36_500), 90)
  ),
  aiBaseUrl: setting(
    "AI_BASE_URL",
    "URL",
    "none",
    "last layer of the AI configuration: the provider",
    optional(httpUrl)
  ),
  aiApiKey: setting("AI_API_KEY", "text", "none", "last layer of the AI configuration: its key", optional(secretText)),
  aiModel: setting("AI_MODEL", "text", "none", "last layer of the AI configuration: the model", optional(text)),
  aiSystemPrompt: setting(
    "AI_SYSTEM_PROMPT",
    "text",
    "none",
    "last layer of the AI configuration: the prompt",
    optional(text)
  ),
  aiCallsAtOnce: setting(
    "AI_CALLS_AT_ONCE",
    "number",
    "32",
    "calls of one AI provider that are under way at a time, 1 to 1024; others wait for their turn",
    otherwise(wholeNumber(1, 1024), 32)
  ),
  pollSeconds: setting(
    "PLATFORM_B_POLL_SECONDS",
    "seconds",
    "20",
    "poll interval of platform_b, 1 to 3600",
    otherwise((config) => Config.map(wholeNumber(1, 3600)(config), Duration.seconds), Duration.seconds(20))
  ),
  allowPrivateWebhooks: setting(
    "WEBHOOK_ALLOW_PRIVATE",
    "true, false",
    "false",
    "lets webhook targets be loopback or private addresses (development and tests)",
    otherwise(flag, false)
  ),
  storeAApiUrl: setting("STORE_A_API_URL", "URL", "the real one", "where store A's Server API is", optional(httpUrl)),
  storeASandboxApiUrl: setting(
    "STORE_A_SANDBOX_API_URL",
    "URL",
    "the real one",
    "where store A's Server API for sandbox purchases is",
    optional(httpUrl)
  ),
  storeARootCertificates: setting(
    "STORE_A_ROOT_CERTIFICATES",
    "paths",
    "the real one",
    "PEM files, comma-separated, to trust instead of store A's own root",
    optional(paths)
  ),
  storeAOcsp: setting(
    "STORE_A_OCSP",
    "off, soft, hard",
    "off",
    "asks whether store A's certificates are revoked; without a clear answer soft accepts, hard has the store repeat",
    otherwise(oneOf("off", "soft", "hard"), "off" as const)
  ),
  storeBApiUrl: setting(
    "STORE_B_API_URL",
    "URL",
    "the real one",
    "where store B's API is; its `/token` may then be the token address of service accounts",
    optional(httpUrl)
  ),
  storeBPushKeysUrl: setting(
    "STORE_B_PUSH_JWKS_URL",
    "URL",
    "the real one",
    "where the issuer of store B's push tokens publishes its keys",
    optional(httpUrl)
  ),
  storeBPushAudience: setting(
    "STORE_B_PUSH_AUDIENCE",
    "text",
    "the notification URL under PUBLIC_URL",
    "audience of store B's push tokens; without this and PUBLIC_URL they are not verified",
    optional(text)
  ),
  storeBPushEmail: setting(
    "STORE_B_PUSH_EMAIL",
    "e-mail",
    "that of the app's service account",
    "the account that store B's pushes are signed in with",
    optional(email)
  ),
  platformAUrl: setting(
    "PLATFORM_A_URL",
    "URL",
    "the real one",
    "where platform_a's web socket is (ws or wss)",
    optional(socketUrl)
  ),
  platformAVersion: setting(
    "PLATFORM_A_VERSION",
    "x.y.z",
    "that of the installed package",
    "the web client that we say we are; set a newer one when the platform refuses it as outdated",
    optional(version)
  ),
  platformBUrl: setting(
    "PLATFORM_B_URL",
    "URL",
    "the real one",
    "where platform_b's private API is",
    optional(httpUrl)
  ),
  logLevel: setting(
    "LOG_LEVEL",
    "level",
    "info",
    "debug, info, warning or error",
    otherwise(oneOf("debug", "info", "warning", "error"), "info" as const)
  )
} as const

/** The settings as decoded. */
export type Settings = {
  readonly [Key in keyof typeof settings]: (typeof settings)[Key] extends Setting<infer A> ? A : never
}

const sentenceOf = (error: ConfigError.ConfigError): string => {
  switch (error._op) {
    case "And":
    case "Or":
      return sentenceOf(error.left)
    case "InvalidData":
      return error.message.startsWith("must be") ? error.message : "must not be empty"
    default:
      return "is wrong"
  }
}

const required = (name: string) => new SettingWrong({ message: `${name} is required with DATABASE_URL` })

const read = <A>({ config, name }: Setting<A>): Effect.Effect<A, SettingWrong> =>
  Effect.mapError(config, (error) => new SettingWrong({ message: `${name} ${sentenceOf(error)}` }))

/** Reads all settings from the configuration provider; the first wrong one stops the start. */
export const load: Effect.Effect<Settings, SettingWrong> = Effect.gen(function* () {
  const values: Settings = yield* Effect.all({
    port: read(settings.port),
    host: read(settings.host),
    publicUrl: read(settings.publicUrl),
    databaseUrl: read(settings.databaseUrl),
    redisUrl: read(settings.redisUrl),
    dataDir: read(settings.dataDir),
    encryptionKeys: read(settings.encryptionKeys),
    adminJwtSecret: read(settings.adminJwtSecret),
    operatorEmail: read(settings.operatorEmail),
    operatorPassword: read(settings.operatorPassword),
    registration: read(settings.registration),
    trustProxy: read(settings.trustProxy),
    retentionDays: read(settings.retentionDays),
    aiBaseUrl: read(settings.aiBaseUrl),
    aiApiKey: read(settings.aiApiKey),
    aiModel: read(settings.aiModel),
    aiSystemPrompt: read(settings.aiSystemPrompt),
    aiCallsAtOnce: read(settings.aiCallsAtOnce),
    pollSeconds: read(settings.pollSeconds),
    allowPrivateWebhooks: read(settings.allowPrivateWebhooks),
    storeAApiUrl: read(settings.storeAApiUrl),
    storeASandboxApiUrl: read(settings.storeASandboxApiUrl),
    storeARootCertificates: read(settings.storeARootCertificates),
    storeAOcsp: read(settings.storeAOcsp),
    storeBApiUrl: read(settings.storeBApiUrl),
    storeBPushKeysUrl: read(settings.storeBPushKeysUrl),
    storeBPushAudience: read(settings.storeBPushAudience),
    storeBPushEmail: read(settings.storeBPushEmail),
    platformAUrl: read(settings.platformAUrl),
    platformAVersion: read(settings.platformAVersion),
    platformBUrl: read(settings.platformBUrl),
    logLevel: read(settings.logLevel)
  })
  if (Option.isSome(values.databaseUrl)) {
    if (Option.isNone(values.encryptionKeys)) return yield* required(settings.encryptionKeys.name)
    if (Option.isNone(values.adminJwtSecret)) return yield* required(settings.adminJwtSecret.name)
  }
  return values
})

const levels = { debug: LogLevel.Debug, info: LogLevel.Info, warning: LogLevel.Warning, error: LogLevel.Error }

/** The least level that is logged; a wrong setting is reported by whoever loads all of them. */
export const logLevel: Effect.Effect<LogLevel.LogLevel> = read(settings.logLevel).pipe(
  Effect.match({ onFailure: () => LogLevel.Info, onSuccess: (level) => levels[level] })
)
