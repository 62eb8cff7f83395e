import { HttpApiBuilder } from "@effect/platform"
import { DateTime, Effect, Option } from "effect"
import { ServiceApi } from "../api/ServiceApi.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import { AuditLog } from "./AuditLog.ts"
import { callerTenant } from "./CallerTenantHttp.ts"
import type { ToldEntry } from "./domain/AuditEntry.ts"

const entryItem = (entry: ToldEntry) => ({
  uuid: entry.id,
  operation: entry.operation,
  record_uuid: Option.getOrNull(entry.recordId),
  path: entry.path,
  changes: Option.getOrNull(entry.changes),
  user_uuid: entry.userId,
  user_name: Option.getOrNull(entry.userName),
  token_uuid: entry.tokenId,
  address: Option.getOrNull(entry.address),
  request_id: entry.requestId,
  created_at: DateTime.formatIso(entry.createdAt)
})

export const AuditHttp = HttpApiBuilder.group(ServiceApi, "audit", (handlers) =>
  Effect.map(AuditLog, (log) =>
    handlers.handle("listAuditLog", ({ path, urlParams }) =>
      Effect.gen(function* () {
        const tenant = yield* callerTenant(path.tenant)
        const page = yield* pageOf(urlParams)
        const rows = yield* log.page(tenant.id, {
          ...page,
          userId: Option.fromNullable(urlParams.user_uuid),
          recordId: Option.fromNullable(urlParams.record_uuid),
          operation: Option.fromNullable(urlParams.operation)
        })
        return pageAnswer(rows, page.limit, ({ id }) => id, entryItem)
      })
    )
  )
)
