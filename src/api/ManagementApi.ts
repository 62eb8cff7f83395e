import { HttpApi, OpenApi } from "@effect/platform"
import { AppsGroup } from "./management/AppsGroup.ts"
import { AuditGroup } from "./management/AuditGroup.ts"
import { AppWebhooksGroup } from "./management/AppWebhooksGroup.ts"
import { AuthGroup } from "./management/AuthGroup.ts"
import { BootstrapGroup } from "./management/BootstrapGroup.ts"
import { ClientGroup } from "./management/ClientGroup.ts"
import { ClientOfferingsGroup } from "./management/ClientOfferingsGroup.ts"
import { CredentialsGroup } from "./management/CredentialsGroup.ts"
import { CustomersGroup } from "./management/CustomersGroup.ts"
import { EntitlementsGroup } from "./management/EntitlementsGroup.ts"
import { EventsGroup } from "./management/EventsGroup.ts"
import { GrantsGroup } from "./management/GrantsGroup.ts"
import { HealthGroup } from "./management/HealthGroup.ts"
import { LedgerGroup } from "./management/LedgerGroup.ts"
import { OfferingsGroup } from "./management/OfferingsGroup.ts"
import { PackagesGroup } from "./management/PackagesGroup.ts"
import { ProductsGroup } from "./management/ProductsGroup.ts"
import { InboundGroup, StoreNotificationsGroup } from "./management/StoreNotificationsGroup.ts"
import { ReceiptsGroup } from "./management/ReceiptsGroup.ts"
import { MembersGroup } from "./management/MembersGroup.ts"
import { StatsGroup } from "./management/StatsGroup.ts"
import { TenantsGroup } from "./management/TenantsGroup.ts"
import { documented } from "./Document.ts"
import { Unavailable } from "./Problem.ts"

/** Subscription management, under `/api/v1`. */
export class ManagementApi extends HttpApi.make("management")
  .add(HealthGroup)
  .add(AuthGroup)
  .add(TenantsGroup)
  .add(MembersGroup)
  .add(AuditGroup)
  .add(AppsGroup)
  .add(CredentialsGroup)
  .add(ProductsGroup)
  .add(EntitlementsGroup)
  .add(OfferingsGroup)
  .add(PackagesGroup)
  .add(BootstrapGroup)
  .add(CustomersGroup)
  .add(StatsGroup)
  .add(GrantsGroup)
  .add(LedgerGroup)
  .add(EventsGroup)
  .add(AppWebhooksGroup)
  .add(StoreNotificationsGroup)
  .add(ClientGroup)
  .add(ReceiptsGroup)
  .add(ClientOfferingsGroup)
  .add(InboundGroup)
  .addError(Unavailable.wire)
  .prefix("/api/v1")
  .annotateContext(documented)
  .annotate(OpenApi.Title, "Gatehouse subscription management")
  .annotate(OpenApi.Version, "1.0.0")
  .annotate(
    OpenApi.Description,
    "Apps, products, entitlements, customers and their subscriptions across two stores."
  ) {}
