import { type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import {
  Context,
  Data,
  Duration,
  Effect,
  Layer,
  Option,
  Predicate,
  Record as EffectRecord,
  Schedule,
  Schema
} from "effect"
import { AuditLog, Trail, trailed } from "../identity/AuditLog.ts"
import { type Claim, digestOf, Idempotency, underRequest } from "../kit/Idempotency.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { CredentialCheck } from "./CredentialCheck.ts"
import { problemResponse } from "./ErrorEnvelope.ts"
import { parametersOf, type Route, routeOf } from "./Routes.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

const header = "idempotency-key"
const validKey = /^[\x20-\x7e]{1,255}$/

/** How often and how long a repeat looks whether the first request has its answer. */
const patience = Schedule.spaced("100 millis").pipe(Schedule.upTo(Duration.seconds(30)))

/** Carries an answer out of the transaction that it undoes. */
class Refused extends Data.TaggedError("Refused")<{ readonly response: Response }> {}
class StillRunning extends Data.TaggedError("StillRunning")<{}> {}

const isSuccess = ({ status }: Response) => status >= 200 && status < 300

const Kept = Schema.parseJson(Schema.Struct({ status: Schema.Int, body: Schema.String }))

const textOf = ({ body }: Response): string =>
  body._tag === "Uint8Array" ? Buffer.from(body.body).toString("utf8") : ""

const kept = (response: Response) =>
  Effect.orDie(Schema.encode(Kept)({ status: response.status, body: textOf(response) }))

const replayed = (answer: string) =>
  Effect.map(Effect.orDie(Schema.decode(Kept)(answer)), ({ body, status }) =>
    HttpServerResponse.text(body, {
      status,
      contentType: "application/json",
      headers: { "idempotency-replayed": "true" }
    })
  )

const Made = Schema.parseJson(
  Schema.Struct({ data: Schema.Union(Schema.Struct({ uuid: Schema.String }), Schema.Struct({ id: Schema.String })) })
)

const recordOf = (response: Response): Option.Option<string> =>
  Option.map(Schema.decodeOption(Made)(textOf(response)), ({ data }) => ("uuid" in data ? data.uuid : data.id))

/** Customers of an app are no members of the workspace: what names them is not for its audit log to keep. */
const withoutCustomers = <A>(named: Readonly<Record<string, A>>): Record<string, A> =>
  EffectRecord.filter(named, (_, name) => name !== "appUserId" && name !== "app_user_id")

const badKey = problemResponse(422, "The given data was invalid.", {
  "Idempotency-Key": ["must have 1 to 255 printable ASCII characters"]
})
const keyReused = problemResponse(409, "The Idempotency-Key was used for another request.")
const stillRunning = problemResponse(409, "The first request with this Idempotency-Key is still running.")

/**
 * Around everything that changes something: a request with an `Idempotency-Key` is carried out once (contract, part 2),
 * and what a member changed in a workspace is written into its audit log, both in the transaction of the change. Only
 * successes are kept under a key: what was refused changed nothing, and may be asked again.
 */
export class Mutations extends Context.Tag("gatehouse/http/Mutations")<
  Mutations,
  {
    readonly around: <R>(
      request: Request,
      requestId: string,
      app: Effect.Effect<Response, never, R>
    ) => Effect.Effect<Response, never, R>
  }
>() {
  static readonly layer = Layer.effect(
    Mutations,
    Effect.gen(function* () {
      const keys = yield* Idempotency
      const audit = yield* AuditLog
      const credentials = yield* CredentialCheck
      const outbox = yield* Outbox

      /** All of it or, when the answer is no success, nothing. */
      const atomic = <E, R>(run: Effect.Effect<Response, E, R>) =>
        Effect.filterOrFail(run, isSuccess, (response) => new Refused({ response })).pipe(
          outbox.transaction,
          Effect.catchIf(
            (error) => error instanceof Refused,
            ({ response }) => Effect.succeed(response)
          )
        )

      const audited = <R>(
        route: Route,
        request: Request,
        requestId: string,
        app: Effect.Effect<Response, never, R>
      ): Effect.Effect<Response, never, R> =>
        Effect.gen(function* () {
          const trail = new Trail()
          const response = yield* trailed(trail, app)
          if (!isSuccess(response)) return response
          yield* audit.record(trail, {
            operation: route.operation,
            recordId: recordOf(response),
            path: withoutCustomers(parametersOf(route, request.url)),
            changes: Option.map(route.understood(yield* Effect.orDie(request.text)), (changes) =>
              Predicate.isReadonlyRecord(changes) ? withoutCustomers(changes) : changes
            ),
            address: request.remoteAddress,
            requestId
          })
          return response
        })

      /** `giveUp` frees the key of a request that changed nothing. */
      const once = <R>(
        claim: Claim,
        authorization: string | undefined,
        giveUp: Effect.Effect<void>,
        run: Effect.Effect<Response, never, R>
      ) =>
        Effect.gen(function* () {
          const begun = yield* keys.begin(claim)
          if (begun._tag === "Running") return yield* new StillRunning()
          if (begun._tag === "Answered") {
            return (yield* credentials.areValid(authorization)) ? yield* replayed(begun.answer) : yield* run
          }
          const response = yield* Effect.onError(underRequest(begun.id, run), () => giveUp)
          yield* isSuccess(response)
            ? Effect.flatMap(kept(response), (answer) => keys.finish(claim, begun.id, answer))
            : giveUp
          return response
        })

      const keyed = <R>(route: Route, request: Request, key: string, run: Effect.Effect<Response, never, R>) =>
        Effect.gen(function* () {
          const { authorization } = request.headers
          const claim = {
            caller: digestOf(authorization ?? ""),
            key,
            request: digestOf(request.method, request.url, yield* Effect.orDie(request.text))
          }
          return yield* route.repetition === "leased"
            ? once(claim, authorization, keys.abandon(claim), run)
            : atomic(once(claim, authorization, Effect.void, run))
        }).pipe(
          Effect.retry({ while: ({ _tag }) => _tag === "StillRunning", schedule: patience }),
          Effect.catchTags({
            KeyReused: () => Effect.succeed(keyReused),
            StillRunning: () => Effect.succeed(stillRunning)
          })
        )

      return Mutations.of({
        around: (request, requestId, app) => {
          const found = routeOf(request.method, request.url)
          if (Option.isNone(found)) return app
          const route = found.value
          const run = route.isAudited ? audited(route, request, requestId, app) : app
          const key = request.headers[header]
          if (key !== undefined && route.repetition !== "never") {
            return validKey.test(key)
              ? Effect.catchTag(keyed(route, request, key, run), "SqlError", Effect.die)
              : Effect.succeed(badKey)
          }
          return route.isAudited && route.repetition !== "leased"
            ? Effect.catchTag(atomic(run), "SqlError", Effect.die)
            : run
        }
      })
    })
  ).pipe(Layer.provide([Idempotency.layer, CredentialCheck.layer]))
}
