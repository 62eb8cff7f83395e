import { randomBytes } from "node:crypto"
import { Context, Data, DateTime, Effect, Layer, Option, type Redacted } from "effect"
import { nextId } from "../kit/Id.ts"
import { Seal } from "../kit/Seal.ts"
import { Endpoint } from "./domain/Endpoint.ts"
import { secretOf } from "./domain/Signature.ts"
import { EndpointId, type Owner } from "./domain/Webhook.ts"
import { EndpointRepo } from "./EndpointRepo.ts"
import { checkTarget, type TargetRefused } from "./TargetGuard.ts"

export class EndpointNotFound extends Data.TaggedError("EndpointNotFound")<{}> {}

export interface NewEndpoint {
  readonly owner: Owner
  readonly url: string
  readonly events: ReadonlyArray<string>
  readonly retryCount: number
  readonly timeoutSeconds: number
}

/** Registered webhook targets of both APIs (contract, parts 3 and 4): secrets are sealed and shown once. */
export class Endpoints extends Context.Tag("gatehouse/webhook/Endpoints")<
  Endpoints,
  {
    readonly create: (
      input: NewEndpoint
    ) => Effect.Effect<{ readonly endpoint: Endpoint; readonly secret: Redacted.Redacted<string> }, TargetRefused>
    readonly byId: (id: EndpointId) => Effect.Effect<Endpoint, EndpointNotFound>
    readonly page: (
      ownerId: string,
      page: { readonly before: Option.Option<string>; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<Endpoint>>
    readonly remove: (id: EndpointId) => Effect.Effect<void, EndpointNotFound>
  }
>() {
  static readonly layer = (options: { readonly allowPrivate: boolean }) =>
    Layer.effect(
      Endpoints,
      Effect.gen(function* () {
        const repo = yield* EndpointRepo
        const seal = yield* Seal

        const create = Effect.fn("Endpoints.create")(function* (input: NewEndpoint) {
          yield* checkTarget(input.url, options)
          const secret = yield* Effect.sync(() => secretOf(randomBytes(32)))
          const endpoint = Endpoint.make({
            id: EndpointId.make(yield* nextId),
            ownerKind: input.owner.kind,
            ownerId: input.owner.id,
            url: input.url,
            events: input.events,
            retryCount: input.retryCount,
            timeoutSeconds: input.timeoutSeconds,
            isActive: true,
            disabledReason: Option.none(),
            createdAt: yield* DateTime.now
          })
          yield* repo.insert({ ...endpoint, secretSealed: yield* seal.seal(secret, endpoint.id) })
          return { endpoint, secret }
        })

        const byId = Effect.fn("Endpoints.byId")(function* (id: EndpointId) {
          const found = yield* repo.byId(id)
          return yield* Option.match(found, { onNone: () => new EndpointNotFound(), onSome: Effect.succeed })
        })

        const remove = Effect.fn("Endpoints.remove")(function* (id: EndpointId) {
          if (!(yield* repo.remove(id))) return yield* new EndpointNotFound()
        })

        return Endpoints.of({
          create,
          byId: (id) => Effect.map(byId(id), (row) => Endpoint.make(row)),
          page: (ownerId, { before, limit }) => repo.page({ ownerId, before: Option.getOrNull(before), limit }),
          remove
        })
      })
    )
}
