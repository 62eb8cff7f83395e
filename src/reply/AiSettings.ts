import { SqlClient, SqlSchema } from "@effect/sql"
import { Context, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { Seal } from "../kit/Seal.ts"
import { AiEnvironment } from "./AiEnvironment.ts"
import {
  AiLayer,
  type ChatLayer,
  type Effective,
  emptyLayer,
  inheriting,
  type KeyedLayer,
  keyLayer,
  resolve
} from "./domain/AiSettings.ts"

/** Absent keeps the key, null deletes it. */
export type KeyChange = Option.Option<Redacted.Redacted<string> | null>

export interface Configured {
  readonly settings: Effective
  /** Opened only for who asks: most of those who look at the settings do not. */
  readonly apiKey: Effect.Effect<Option.Option<Redacted.Redacted<string>>>
}

const globalRecord = "ai_global"
const accountRecord = (accountId: string) => `ai:${accountId}`

const Row = Schema.Struct({ settings: AiLayer, apiKeySealed: Schema.OptionFromNullOr(Schema.String) })
type Row = Option.Option<typeof Row.Type>
/** Of one account, or null: of all. */
const Rows = Schema.Struct({ accountId: Schema.NullOr(Schema.UUID), ...Row.fields })
const encodeLayer = Schema.encode(Schema.parseJson(AiLayer))

const keyedOf = (row: Row): KeyedLayer => ({
  layer: Option.match(row, { onNone: () => emptyLayer, onSome: ({ settings }) => settings }),
  hasApiKey: Option.exists(row, ({ apiKeySealed }) => Option.isSome(apiKeySealed))
})

/**
 * The layers of the AI configuration (gateway specification, part 2; contract, part 4, "AI"): a put changes the fields
 * that it names and the others stay. Keys are sealed and never read back.
 */
export class AiSettings extends Context.Tag("gatehouse/reply/AiSettings")<
  AiSettings,
  {
    readonly global: Effect.Effect<KeyedLayer>
    readonly putGlobal: (changes: Partial<AiLayer>, key: KeyChange) => Effect.Effect<KeyedLayer>
    readonly account: (accountId: string) => Effect.Effect<KeyedLayer>
    readonly putAccount: (accountId: string, changes: Partial<AiLayer>, key: KeyChange) => Effect.Effect<KeyedLayer>
    /** The account inherits everything again. */
    readonly deleteAccount: (accountId: string) => Effect.Effect<void>
    /** What is in force for a chat, with the key to use; without an account, for all accounts. */
    readonly configured: (accountId: Option.Option<string>, chat: ChatLayer) => Effect.Effect<Configured>
    /** The same for chats of several accounts, in their order. */
    readonly configuredAll: (
      chats: ReadonlyArray<{ readonly accountId: string; readonly chat: ChatLayer }>
    ) => Effect.Effect<ReadonlyArray<Configured>>
    /** Keeps the layers of accounts as they are until the caller's transaction ends: changes wait for it. */
    readonly hold: (accountIds: ReadonlyArray<string>) => Effect.Effect<void>
  }
>() {
  static readonly layer = Layer.effect(
    AiSettings,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const seal = yield* Seal
      const environment = yield* AiEnvironment

      const environmentLayer: KeyedLayer = {
        layer: {
          ...emptyLayer,
          baseUrl: Option.getOrNull(environment.baseUrl),
          modelName: Option.getOrNull(environment.modelName),
          systemPrompt: Option.getOrNull(environment.systemPrompt)
        },
        hasApiKey: Option.isSome(environment.apiKey)
      }

      const rows = SqlSchema.findAll({
        Request: Schema.Array(Schema.String),
        Result: Rows,
        execute: (accountIds) => sql`/* prepared: ai_settings */
          SELECT NULL::uuid AS account_id, settings, api_key_sealed FROM ai_global
          UNION ALL SELECT account_id, settings, api_key_sealed FROM ai_accounts
          WHERE account_id = ANY(${accountIds}::uuid[])`
      })
      const read = Effect.fn("AiSettings.read")(
        (accountIds: ReadonlyArray<string>) => rows(accountIds),
        Effect.map((found) => new Map(found.map((row) => [row.accountId, row]))),
        Effect.orDie
      )
      const global = Effect.map(read([]), (found): Row => Option.fromNullable(found.get(null)))
      const account = (id: string) => Effect.map(read([id]), (found): Row => Option.fromNullable(found.get(id)))

      const merged = Effect.fn("AiSettings.merged")(function* (
        row: Row,
        changes: Partial<AiLayer>,
        key: KeyChange,
        recordId: string
      ) {
        const layer: AiLayer = { ...keyedOf(row).layer, ...changes }
        const kept = Option.getOrNull(Option.flatMap(row, ({ apiKeySealed }) => apiKeySealed))
        const apiKeySealed = Option.isNone(key)
          ? kept
          : key.value === null
            ? null
            : yield* seal.seal(key.value, recordId)
        const settings = yield* Effect.orDie(encodeLayer(layer))
        return { columns: { settings, apiKeySealed }, stored: { layer, hasApiKey: apiKeySealed !== null } }
      })

      /** A change waits for those who hold the record, and the next ones wait for its commit. */
      const lock = (record: string) => sql`SELECT pg_advisory_xact_lock(hashtextextended(${record}, 0))`

      const putGlobal = Effect.fn("AiSettings.putGlobal")(
        function* (changes: Partial<AiLayer>, key: KeyChange) {
          yield* lock(globalRecord)
          const { columns, stored } = yield* merged(yield* global, changes, key, globalRecord)
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
          yield* lock(accountRecord(accountId))
          const { columns, stored } = yield* merged(yield* account(accountId), changes, key, accountId)
          yield* sql`
            INSERT INTO ai_accounts ${sql.insert({ ...columns, accountId })} ON CONFLICT (account_id)
            DO UPDATE SET settings = excluded.settings, api_key_sealed = excluded.api_key_sealed`
          return stored
        },
        sql.withTransaction,
        Effect.orDie
      )

      const deleteAccount = Effect.fn("AiSettings.deleteAccount")(
        function* (accountId: string) {
          yield* lock(accountRecord(accountId))
          yield* sql`DELETE FROM ai_accounts WHERE account_id = ${accountId}`
        },
        sql.withTransaction,
        Effect.orDie
      )

      const opened = (row: Row, recordId: string) =>
        Effect.transposeMapOption(
          Option.flatMap(row, ({ apiKeySealed }) => apiKeySealed),
          (sealed) => Effect.orDie(seal.open(sealed, recordId))
        )

      const configuredBy = (global: Row, account: Row, accountId: string) => {
        const stored = { account: keyedOf(account), global: keyedOf(global), environment: environmentLayer }
        const keys = {
          account: opened(account, accountId),
          global: opened(global, globalRecord),
          environment: Effect.succeed(environment.apiKey)
        }
        const nearest = keyLayer({ chat: inheriting, ...stored })
        const apiKey = Option.match(nearest, { onNone: () => Effect.succeedNone, onSome: (layer) => keys[layer] })
        return (chat: ChatLayer): Configured => ({ settings: resolve({ chat, ...stored }), apiKey })
      }

      const configured = Effect.fn("AiSettings.configured")(function* (
        accountId: Option.Option<string>,
        chat: ChatLayer
      ) {
        const found = yield* read(Option.toArray(accountId))
        const [of, own] = [
          Option.getOrElse(accountId, () => ""),
          Option.flatMapNullable(accountId, (id) => found.get(id))
        ]
        return configuredBy(Option.fromNullable(found.get(null)), own, of)(chat)
      })

      const configuredAll = Effect.fn("AiSettings.configuredAll")(function* (
        chats: ReadonlyArray<{ readonly accountId: string; readonly chat: ChatLayer }>
      ) {
        const ids = [...new Set(chats.map(({ accountId }) => accountId))]
        const found = yield* read(ids)
        const globalRow = Option.fromNullable(found.get(null))
        const by = new Map(ids.map((id) => [id, configuredBy(globalRow, Option.fromNullable(found.get(id)), id)]))
        const none = configuredBy(globalRow, Option.none(), "")
        return chats.map(({ accountId, chat }) => (by.get(accountId) ?? none)(chat))
      })

      const hold = Effect.fn("AiSettings.hold")(
        (accountIds: ReadonlyArray<string>) => sql`/* prepared: ai_settings_hold */
          SELECT pg_advisory_xact_lock_shared(hashtextextended(record, 0))
          FROM unnest(${[globalRecord, ...[...new Set(accountIds)].toSorted().map(accountRecord)]}::text[]) AS record`,
        Effect.asVoid,
        Effect.orDie
      )

      return AiSettings.of({
        global: Effect.map(global, keyedOf),
        putGlobal,
        account: (accountId) => Effect.map(account(accountId), keyedOf),
        putAccount,
        deleteAccount,
        configured,
        configuredAll,
        hold
      })
    })
  )
}
