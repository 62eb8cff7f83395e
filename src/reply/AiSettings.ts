import { SqlClient, SqlSchema } from "@effect/sql"
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { Seal } from "../kit/Seal.ts"
import { AiEnvironment } from "./AiEnvironment.ts"
import { type ChatLayer, AiLayer, type Effective, emptyLayer, resolve } from "./domain/AiSettings.ts"

/** Absent keeps the key, null deletes it. */
export type KeyChange = Option.Option<Redacted.Redacted<string> | null>

export interface StoredLayer {
  readonly layer: AiLayer
  readonly hasApiKey: boolean
}

export interface Configured {
  readonly settings: Effective
  readonly apiKey: Option.Option<Redacted.Redacted<string>>
}

const globalRecord = "ai_global"

const Row = Schema.Struct({ settings: AiLayer, apiKeySealed: Schema.NullOr(Schema.String) })
const encodeLayer = Schema.encode(Schema.parseJson(AiLayer))

/**
 * The layers of the AI configuration (gateway specification, part 2; contract, part 4, "AI"): a put changes the fields
 * that it names and the others stay. Keys are sealed and never read back.
 */
export class AiSettings extends Context.Tag("gatehouse/reply/AiSettings")<
  AiSettings,
  {
    readonly global: Effect.Effect<StoredLayer>
    readonly putGlobal: (changes: Partial<AiLayer>, key: KeyChange) => Effect.Effect<StoredLayer>
    readonly account: (accountId: string) => Effect.Effect<StoredLayer>
    readonly putAccount: (accountId: string, changes: Partial<AiLayer>, key: KeyChange) => Effect.Effect<StoredLayer>
    /** What is in force for a chat, with the key to use. */
    readonly configured: (accountId: string, chat: ChatLayer) => Effect.Effect<Configured>
  }
>() {
  static readonly layer = Layer.effect(
    AiSettings,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const seal = yield* Seal
      const environment = yield* AiEnvironment

      const readGlobal = Effect.fn("AiSettings.readGlobal")(
        SqlSchema.findOne({
          Request: Schema.Void,
          Result: Row,
          execute: () => sql`SELECT settings, api_key_sealed FROM ai_global`
        }),
        Effect.orDie
      )
      const readAccount = Effect.fn("AiSettings.readAccount")(
        SqlSchema.findOne({
          Request: Schema.String,
          Result: Row,
          execute: (id) => sql`SELECT settings, api_key_sealed FROM ai_accounts WHERE account_id = ${id}`
        }),
        Effect.orDie
      )

      const storedOf = (row: Option.Option<typeof Row.Type>): StoredLayer => ({
        layer: Option.match(row, { onNone: () => emptyLayer, onSome: ({ settings }) => settings }),
        hasApiKey: Option.exists(row, ({ apiKeySealed }) => apiKeySealed !== null)
      })

      const merged = Effect.fn("AiSettings.merged")(function* (
        row: Option.Option<typeof Row.Type>,
        changes: Partial<AiLayer>,
        key: KeyChange,
        recordId: string
      ) {
        const layer: AiLayer = { ...storedOf(row).layer, ...changes }
        const kept = Option.getOrNull(Option.flatMapNullable(row, ({ apiKeySealed }) => apiKeySealed))
        const apiKeySealed = Option.isNone(key)
          ? kept
          : key.value === null
            ? null
            : yield* seal.seal(key.value, recordId)
        const settings = yield* Effect.orDie(encodeLayer(layer))
        return { columns: { settings, apiKeySealed }, stored: { layer, hasApiKey: apiKeySealed !== null } }
      })

      const putGlobal = Effect.fn("AiSettings.putGlobal")(
        function* (changes: Partial<AiLayer>, key: KeyChange) {
          yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(${globalRecord}, 0))`
          const { columns, stored } = yield* merged(yield* readGlobal(), changes, key, globalRecord)
          yield* sql`
          INSERT INTO ai_global ${sql.insert(columns)} ON CONFLICT (singleton)
          DO UPDATE SET settings = excluded.settings, api_key_sealed = excluded.api_key_sealed`
          return stored
        },
        sql.withTransaction,
        Effect.orDie
      )

      const putAccount = Effect.fn("AiSettings.putAccount")(
        function* (accountId: string, changes: Partial<AiLayer>, key: KeyChange) {
          yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(${`ai:${accountId}`}, 0))`
          const { columns, stored } = yield* merged(yield* readAccount(accountId), changes, key, accountId)
          yield* sql`
          INSERT INTO ai_accounts ${sql.insert({ ...columns, accountId })} ON CONFLICT (account_id)
          DO UPDATE SET settings = excluded.settings, api_key_sealed = excluded.api_key_sealed`
          return stored
        },
        sql.withTransaction,
        Effect.orDie
      )

      const keyOf = (row: Option.Option<typeof Row.Type>, recordId: string) =>
        Option.match(
          Option.flatMapNullable(row, ({ apiKeySealed }) => apiKeySealed),
          {
            onNone: () => Effect.succeedNone,
            onSome: (sealed) => Effect.map(Effect.orDie(seal.open(sealed, recordId)), Option.some)
          }
        )

      const configured = Effect.fn("AiSettings.configured")(function* (accountId: string, chat: ChatLayer) {
        const global = yield* readGlobal()
        const account = yield* readAccount(accountId)
        const ownKey = yield* keyOf(account, accountId)
        const globalKey = yield* keyOf(global, globalRecord)
        const settings = resolve({
          chat,
          account: storedOf(account).layer,
          global: storedOf(global).layer,
          environment: {
            ...emptyLayer,
            baseUrl: Option.getOrNull(environment.baseUrl),
            modelName: Option.getOrNull(environment.modelName),
            systemPrompt: Option.getOrNull(environment.systemPrompt)
          }
        })
        return { settings, apiKey: Option.firstSomeOf([ownKey, globalKey, environment.apiKey]) }
      })

      return AiSettings.of({
        global: Effect.map(readGlobal(), storedOf),
        putGlobal,
        account: (accountId) => Effect.map(readAccount(accountId), storedOf),
        putAccount,
        configured
      })
    })
  )
}
