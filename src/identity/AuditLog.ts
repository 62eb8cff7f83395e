import { Context, DateTime, Effect, FiberRef, Layer, Option } from "effect"
import { nextId } from "../kit/Id.ts"
import { AuditRepo } from "./AuditRepo.ts"
import { AuditEntry, type ToldEntry } from "./domain/AuditEntry.ts"
import type { AccessTokenId, TenantId, UserId } from "./domain/User.ts"

/** Who the request of this fiber turned out to come from, and whose workspace it may touch: filled in on the way. */
export class Trail {
  caller: Option.Option<{ readonly userId: UserId; readonly tokenId: AccessTokenId }> = Option.none()
  tenantId: Option.Option<TenantId> = Option.none()
}

const current = FiberRef.unsafeMake(Option.none<Trail>())

/** Runs a request with a trail of its own. */
export const trailed = <A, E, R>(trail: Trail, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.locally(effect, current, Option.some(trail))

/** Adds to the trail of the running request, where there is one. */
export const leaveTrail = (found: Partial<Trail>): Effect.Effect<void> =>
  Effect.map(FiberRef.get(current), (trail) => {
    if (Option.isSome(trail)) Object.assign(trail.value, found)
  })

export interface AuditQuery {
  readonly userId: Option.Option<string>
  readonly recordId: Option.Option<string>
  readonly operation: Option.Option<string>
  readonly before: Option.Option<string>
  readonly limit: number
}

export type Deed = Pick<typeof AuditEntry.Type, "operation" | "recordId" | "path" | "changes" | "address" | "requestId">

/** What members did in a workspace, newest first. */
export class AuditLog extends Context.Tag("gatehouse/identity/AuditLog")<
  AuditLog,
  {
    /** Joins the transaction of the change. Writes nothing where no member of a workspace was recognised. */
    readonly record: (trail: Trail, deed: Deed) => Effect.Effect<void>
    readonly page: (tenantId: TenantId, query: AuditQuery) => Effect.Effect<ReadonlyArray<ToldEntry>>
  }
>() {
  static readonly layer = Layer.effect(
    AuditLog,
    Effect.gen(function* () {
      const repo = yield* AuditRepo

      const record = Effect.fn("AuditLog.record")(function* (trail: Trail, deed: Deed) {
        if (Option.isNone(trail.caller) || Option.isNone(trail.tenantId)) return
        const entry = { ...deed, ...trail.caller.value, tenantId: trail.tenantId.value }
        yield* repo.insert(AuditEntry.make({ ...entry, id: yield* nextId, createdAt: yield* DateTime.now }))
      })

      return AuditLog.of({
        record,
        page: (tenantId, { before, limit, operation, recordId, userId }) =>
          repo.page({
            tenantId,
            userId: Option.getOrNull(userId),
            recordId: Option.getOrNull(recordId),
            operation: Option.getOrNull(operation),
            before: Option.getOrNull(before),
            limit
          })
      })
    })
  ).pipe(Layer.provide(AuditRepo.Default))
}
