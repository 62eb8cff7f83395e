import { SqlClient, SqlSchema } from "@effect/sql"
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { Seal } from "../kit/Seal.ts"
import { AiEnvironment } from "./AiEnvironment.ts"
import {
  AiLayer,
  type ChatLayer,
  type Effective,
  emptyLayer,
  type KeyedLayer,
  keyLayer,
  resolve
} from "./domain/AiSettings.ts"

/** Absent keeps the key, null deletes it. */
export type KeyChange = Option.Option<Redacted.Redacted<string> | null>

export interface Configured {
  readonly settings: Effective
  readonly apiKey: Option.Option<Redacted.Redacted<string>>
}

const globalRecord = "ai_global"
const accountRecord = (accountId: string) => `ai:${accountId}`

const Row = Schema.Struct({ settings: AiLayer, apiKeySealed: Schema.OptionFromNullOr(Schema.String) })
type Row = Option.Option<typeof Row.Type>
const Rows = Schema.Struct({ isGlobal: Schema.Boolean, ...Row.fields })
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
    /** Keeps the layers of an account as they are until the caller's transaction ends: changes wait for it. */
    readonly hold: (accountId: string) => Effect.Effect<void>
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
        Request: Schema.NullOr(Schema.String),
        Result: Rows,
        execute: (accountId) => sql`
          SELECT true AS is_global, settings, api_key_sealed FROM ai_global
          UNION ALL SELECT false, settings, api_key_sealed FROM ai_accounts WHERE account_id = ${accountId}::uuid`
      })
      const read = Effect.fn("AiSettings.read")(
        (accountId: Option.Option<string>) => rows(Option.getOrNull(accountId)),
        Effect.map((found): { readonly global: Row; readonly account: Row } => ({
          global: Option.fromNullable(found.find(({ isGlobal }) => isGlobal)),
          account: Option.fromNullable(found.find(({ isGlobal }) => !isGlobal))
        })),
        Effect.orDie
      )
      const global = Effect.map(read(Option.none()), ({ global }) => global)
      const account = (id: string) => Effect.map(read(Option.some(id)), ({ account }) => account)

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

      const configured = Effect.fn("AiSettings.configured")(function* (
        accountId: Option.Option<string>,
        chat: ChatLayer
      ) {
        const stored = yield* read(accountId)
        const layers = {
          chat,
          account: keyedOf(stored.account),
          global: keyedOf(stored.global),
          environment: environmentLayer
        }
        const nearest = Option.getOrNull(keyLayer(layers))
        const apiKey =
          nearest === "account"
            ? yield* opened(
                stored.account,
                Option.getOrElse(accountId, () => "")
              )
            : nearest === "global"
              ? yield* opened(stored.global, globalRecord)
              : environment.apiKey
        return { settings: resolve(layers), apiKey }
      })

      const hold = Effect.fn("AiSettings.hold")(
        (accountId: string) => sql`
          SELECT pg_advisory_xact_lock_shared(hashtextextended(${globalRecord}, 0)),
            pg_advisory_xact_lock_shared(hashtextextended(${accountRecord(accountId)}, 0))`,
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
        hold
      })
    })
  )
}
