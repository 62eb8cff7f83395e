import { MessageStorage, RunnerHealth, Runners, RunnerStorage, Sharding, ShardingConfig } from "@effect/cluster"
import { NodeContext, NodeHttpClient } from "@effect/platform-node"
import { Duration, Effect, Layer, Option, type Redacted } from "effect"
import { AppsHttp } from "./catalog/AppsHttp.ts"
import { BootstrapHttp } from "./catalog/BootstrapHttp.ts"
import * as CatalogContext from "./catalog/CatalogContext.ts"
import { EntitlementsHttp } from "./catalog/EntitlementsHttp.ts"
import { ClientOfferingsHttp, OfferingsHttp } from "./catalog/OfferingsHttp.ts"
import { PackagesHttp } from "./catalog/PackagesHttp.ts"
import { ProductsHttp } from "./catalog/ProductsHttp.ts"
import { AccountsHttp } from "./channel/AccountsHttp.ts"
import { AiHttp } from "./channel/AiHttp.ts"
import { AiTrialsHttp } from "./channel/AiTrialsHttp.ts"
import * as ChannelContext from "./channel/ChannelContext.ts"
import { ChannelWebhooksHttp } from "./channel/ChannelWebhooksHttp.ts"
import { EventStreamsHttp } from "./channel/EventStreamsHttp.ts"
import { ChatsHttp, MessagesHttp } from "./channel/MessagesHttp.ts"
import type { Secrets } from "./cli/Secrets.ts"
import type { Settings } from "./Config.ts"
import { HealthHttp } from "./http/Health.ts"
import { Mutations } from "./http/Mutations.ts"
import * as Security from "./http/Security.ts"
import * as Server from "./http/Server.ts"
import { AccessTokens } from "./identity/AccessTokens.ts"
import { Accounts } from "./identity/Accounts.ts"
import { AuditHttp } from "./identity/AuditHttp.ts"
import { AuditLog } from "./identity/AuditLog.ts"
import { AuthHttp } from "./identity/AuthHttp.ts"
import { type FirstOperator, firstOperator } from "./identity/FirstOperator.ts"
import { LoginThrottle } from "./identity/LoginThrottle.ts"
import { MembersHttp } from "./identity/MembersHttp.ts"
import { Members } from "./identity/Members.ts"
import { OperatorsHttp } from "./identity/OperatorsHttp.ts"
import { OperatorTokens } from "./identity/OperatorTokens.ts"
import { Passwords } from "./identity/Passwords.ts"
import { TenantsHttp } from "./identity/TenantsHttp.ts"
import { Tenants } from "./identity/Tenants.ts"
import { Seal } from "./kit/Seal.ts"
import * as PlatformADriver from "./platform/platform-a/PlatformADriver.ts"
import * as PlatformBDriver from "./platform/platform-b/PlatformBDriver.ts"
import { SessionVault } from "./platform/SessionVault.ts"
import { RateLimit } from "./redis/RateLimit.ts"
import { RedisClient } from "./redis/RedisClient.ts"
import { AiEnvironment } from "./reply/AiEnvironment.ts"
import * as ChatCompletions from "./reply/chat-completions/ChatCompletions.ts"
import * as Database from "./sql/Database.ts"
import * as EmbeddedPostgres from "./sql/EmbeddedPostgres.ts"
import * as Migrations from "./sql/Migrations.ts"
import * as FirstStatistics from "./sql/FirstStatistics.ts"
import * as Retention from "./sql/Retention.ts"
import { Credentials } from "./store/Credentials.ts"
import { CredentialsHttp } from "./store/CredentialsHttp.ts"
import * as Ocsp from "./store/store-a/Ocsp.ts"
import * as PurchaseReader from "./store/store-a/PurchaseReader.ts"
import * as ServerApi from "./store/store-a/ServerApi.ts"
import * as StoreADriver from "./store/store-a/StoreADriver.ts"
import { StorePurchases } from "./store/StorePurchases.ts"
import * as StoreBDriver from "./store/store-b/StoreBDriver.ts"
import { AppWebhooksHttp } from "./subscription/AppWebhooksHttp.ts"
import { ClientHttp } from "./subscription/ClientHttp.ts"
import { CustomersHttp } from "./subscription/CustomersHttp.ts"
import { EventsHttp } from "./subscription/EventsHttp.ts"
import { GrantsHttp } from "./subscription/GrantsHttp.ts"
import { LedgerHttp } from "./subscription/LedgerHttp.ts"
import { ReceiptsHttp } from "./subscription/ReceiptsHttp.ts"
import * as RecordedHistory from "./subscription/RecordedHistory.ts"
import * as Shortcuts from "./subscription/ShortcutsHttp.ts"
import { InboundHttp, StoreNotificationsHttp } from "./subscription/StoreNotificationsHttp.ts"
import { StatsHttp } from "./subscription/StatsHttp.ts"
import * as SubscriptionContext from "./subscription/SubscriptionContext.ts"
import * as Webhooks from "./webhook/Webhooks.ts"

const maxConnections = 20

/** The database: the operator's own, or the embedded one. A visitor joins the one that runs and never stops it. */
export const storage = (settings: Settings, options: { readonly visitor: boolean }) =>
  Database.layer.pipe(
    Layer.provide(
      Option.match(settings.databaseUrl, {
        onNone: () => EmbeddedPostgres.layer({ dataDir: settings.dataDir, maxConnections, visitor: options.visitor }),
        onSome: (url) => Layer.succeed(Database.DatabaseAddress, { url, maxConnections, origin: "external" })
      })
    )
  )

const migrated = (settings: Settings, options: { readonly visitor: boolean }) =>
  Layer.provideMerge(Migrations.layer, storage(settings, options))

/** Actors of one process: addresses and mailboxes in memory, everything that must last in the contexts' own tables. */
const sharding = Sharding.layer.pipe(
  Layer.provide([Runners.layerNoop, RunnerStorage.layerMemory, RunnerHealth.layerNoop]),
  Layer.provide(MessageStorage.layerNoop),
  Layer.provide(
    ShardingConfig.layer({ simulateRemoteSerialization: false, entityTerminationTimeout: Duration.seconds(10) })
  )
)

const rates = (settings: Settings) =>
  Option.match(settings.redisUrl, {
    onNone: () => RateLimit.layerMemory(),
    onSome: (url) => RateLimit.layerRedis.pipe(Layer.provide(RedisClient.layer(url)))
  })

const accounts = (settings: Settings) =>
  Accounts.layer({ registration: settings.registration }).pipe(Layer.provide([Passwords.layer, Tenants.layer]))

const identity = (settings: Settings, secrets: Secrets) =>
  Layer.mergeAll(
    accounts(settings),
    AccessTokens.layer,
    AuditLog.layer,
    OperatorTokens.layer(secrets.adminJwtSecret),
    Tenants.layer,
    Members.layer,
    LoginThrottle.layer.pipe(Layer.provide(rates(settings)))
  )

const storeA = (settings: Settings) =>
  Layer.unwrapEffect(
    Effect.map(StoreADriver.rootsOf(settings.storeARootCertificates), (roots) =>
      Layer.merge(StoreADriver.layer({ roots }), PurchaseReader.layer({ roots }))
    )
  ).pipe(
    Layer.provide(settings.storeAOcsp === "off" ? Ocsp.Revocation.layerOff : Ocsp.layer(settings.storeAOcsp)),
    Layer.provide(
      ServerApi.layer({
        production: Option.getOrElse(settings.storeAApiUrl, () => ServerApi.storeAUrls.production),
        sandbox: Option.getOrElse(settings.storeASandboxApiUrl, () => ServerApi.storeAUrls.sandbox)
      })
    )
  )

const withoutSlash = (url: string) => url.replace(/\/+$/, "")

/** A push names the endpoint that it was sent to as its audience, unless the subscription sets another. */
const storeB = (settings: Settings) =>
  StoreBDriver.layer({
    apiUrl: settings.storeBApiUrl,
    pushKeysUrl: settings.storeBPushKeysUrl,
    pushAudience: (app) =>
      Option.orElse(settings.storeBPushAudience, () =>
        Option.map(settings.publicUrl, (url) => `${withoutSlash(url)}/api/v1/stores/store_b/notifications/${app}`)
      ),
    pushEmail: settings.storeBPushEmail
  }).pipe(Layer.provide(NodeHttpClient.layerUndici))

const credentials = (settings: Settings) =>
  Credentials.layer({ tokenUri: Option.map(settings.storeBApiUrl, (url) => `${withoutSlash(url)}/token`) })

const platformA = (settings: Settings) =>
  PlatformADriver.layer({
    ...Option.match(settings.platformAUrl, { onNone: () => ({}), onSome: (url) => ({ url }) }),
    ...Option.match(settings.platformAVersion, { onNone: () => ({}), onSome: (version) => ({ version }) })
  }).pipe(Layer.provide(SessionVault.layer))

const drivers = (settings: Settings) =>
  Layer.mergeAll(
    storeA(settings),
    platformA(settings),
    PlatformBDriver.layer(
      Option.match(settings.platformBUrl, { onNone: () => ({}), onSome: (baseUrl) => ({ baseUrl }) })
    ),
    ChatCompletions.layer({ callsAtOnce: settings.aiCallsAtOnce })
  ).pipe(Layer.provide([NodeHttpClient.layerUndici, NodeContext.layer]))

const aiEnvironment = (settings: Settings) =>
  Layer.succeed(AiEnvironment, {
    baseUrl: settings.aiBaseUrl,
    apiKey: settings.aiApiKey,
    modelName: settings.aiModel,
    systemPrompt: settings.aiSystemPrompt
  })

/** Every service and every actor, on storage that is up to date. */
const services = (settings: Settings, secrets: Secrets) =>
  Layer.mergeAll(SubscriptionContext.layer, ChannelContext.layer({ pollInterval: settings.pollSeconds })).pipe(
    Layer.provideMerge(StorePurchases.layer),
    Layer.provide(storeB(settings)),
    Layer.provideMerge(credentials(settings)),
    Layer.provideMerge(Layer.provide(CatalogContext.layer, RecordedHistory.layer)),
    Layer.provideMerge(identity(settings, secrets)),
    Layer.provideMerge(Webhooks.layer({ allowPrivate: settings.allowPrivateWebhooks })),
    Layer.provide([drivers(settings), aiEnvironment(settings)]),
    Layer.provideMerge(Seal.layer(secrets.encryptionKeys)),
    Layer.provideMerge(sharding)
  )

const managementApi = Layer.mergeAll(
  HealthHttp,
  AuthHttp,
  TenantsHttp,
  MembersHttp,
  AuditHttp,
  AppsHttp,
  CredentialsHttp,
  ProductsHttp,
  EntitlementsHttp,
  OfferingsHttp,
  PackagesHttp,
  BootstrapHttp,
  CustomersHttp,
  StatsHttp,
  GrantsHttp,
  LedgerHttp,
  EventsHttp,
  AppWebhooksHttp,
  StoreNotificationsHttp,
  ClientHttp,
  ReceiptsHttp,
  ClientOfferingsHttp,
  InboundHttp
)

const gatewayApi = Layer.mergeAll(
  OperatorsHttp,
  AccountsHttp,
  ChatsHttp,
  MessagesHttp,
  AiHttp,
  AiTrialsHttp,
  ChannelWebhooksHttp,
  EventStreamsHttp
)

const firstStart = (settings: Settings, announce: (operator: FirstOperator) => Effect.Effect<void>) =>
  Layer.effectDiscard(
    Effect.flatMap(
      firstOperator({ email: settings.operatorEmail, password: settings.operatorPassword }),
      Option.match({ onNone: () => Effect.void, onSome: announce })
    )
  )

/** Nobody collects spans; making them costs every request and every statement. */
const untraced = Layer.setTracerEnabled(false)

/**
 * The whole program. What is named last is started first and stopped last: storage, then actors and services, then the
 * server, which stops accepting before anything else goes.
 */
export const server = (
  settings: Settings,
  secrets: Secrets,
  announce: (operator: FirstOperator) => Effect.Effect<void>
) =>
  Server.layer({ host: settings.host, port: settings.port, trustProxy: settings.trustProxy }).pipe(
    Layer.provide([managementApi, gatewayApi, Shortcuts.layer, Mutations.layer]),
    Layer.provide(Security.layer),
    Layer.provide([firstStart(settings, announce), FirstStatistics.layer, Retention.layer(settings.retentionDays)]),
    Layer.provide(services(settings, secrets)),
    Layer.provide(migrated(settings, { visitor: false })),
    Layer.provide(untraced)
  )

/** What the commands about operators need, beside a program that may be running. */
export const operators = (settings: Settings, secrets: Secrets) =>
  Layer.mergeAll(accounts(settings), OperatorTokens.layer(secrets.adminJwtSecret)).pipe(
    Layer.provide(migrated(settings, { visitor: true }))
  )

/** Says that Redis answers, or the reason why not. */
export const redisAnswers = (url: Redacted.Redacted<string>): Effect.Effect<string, string> =>
  Effect.flatMap(RedisClient, ({ use }) => use((client) => client.ping())).pipe(
    Effect.provide(RedisClient.layer(url)),
    Effect.mapError(({ message }) => message)
  )
