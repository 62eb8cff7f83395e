import { HttpBody, HttpClient, HttpClientRequest, type HttpClientResponse } from "@effect/platform"
import { Clock, Context, Data, Duration, Effect, Layer, Option, Stream } from "effect"
import { makeSingleFlight } from "../../kit/SingleFlight.ts"
import { NotificationRefused } from "../StoreNotifications.ts"
import { StoreDown } from "../StoreTrouble.ts"
import type { CertificateChain } from "./Certificate.ts"
import { judge, Verdict } from "./OcspAnswer.ts"
import { type Pair, questionAbout, responderOf } from "./OcspQuestion.ts"

/** What is done about an unclear answer: `soft` lets pass, `hard` does not. */
export type Strictness = "soft" | "hard"

/**
 * Port: whether the certificates of a chain are revoked. Ask it only about chains that verify up to a pinned root: the
 * addresses that are called stand in the certificates. `NotificationRefused` is for good, `StoreDown` until later.
 */
export class Revocation extends Context.Tag("gatehouse/store/store-a/Revocation")<
  Revocation,
  { readonly check: (chain: CertificateChain) => Effect.Effect<void, NotificationRefused | StoreDown> }
>() {
  /** Nobody is asked. */
  static readonly layerOff = Layer.succeed(Revocation, { check: () => Effect.void })
}

class NoAnswer extends Data.TaggedError("NoAnswer")<{ readonly detail: string }> {}

const patience = "3 seconds"
const longestAnswer = 64 * 1024
const failureKept = Duration.toMillis("5 minutes")
const rememberedVerdicts = 128

/** What the verdicts on all certificates of a chain come to. */
export const decide = (
  strictness: Strictness,
  verdicts: ReadonlyArray<Verdict>
): Option.Option<NotificationRefused | StoreDown> => {
  const refuse = (detail: string) => Option.some(new NotificationRefused({ reason: "chain", detail }))
  if (verdicts.some(Verdict.$is("Revoked"))) return refuse("a certificate is revoked")
  if (strictness === "soft") return Option.none()
  if (verdicts.some(Verdict.$is("Unasked"))) return refuse("a certificate names no OCSP responder")
  return Option.map(
    Option.fromNullable(verdicts.find(Verdict.$is("Unclear"))),
    ({ detail }) => new StoreDown({ detail: `a certificate could not be checked for revocation: ${detail}` })
  )
}

const bodyOf = (response: HttpClientResponse.HttpClientResponse) =>
  Stream.runFoldEffect(response.stream, Buffer.alloc(0), (read, chunk) =>
    read.length + chunk.length > longestAnswer
      ? new NoAnswer({ detail: "the answer is too long" })
      : Effect.succeed(Buffer.concat([read, chunk]))
  )

/** Asks the responders that certificates name (RFC 6960). What they say is remembered until they have news. */
export const layer = (strictness: Strictness) =>
  Layer.scoped(
    Revocation,
    Effect.gen(function* () {
      const client = yield* HttpClient.HttpClient
      const flight = yield* makeSingleFlight<string, Verdict, never>()
      const known = new Map<string, { readonly verdict: Verdict; readonly until: number }>()

      const post = Effect.fn("Ocsp.post")(
        function* (url: string, question: Uint8Array) {
          const response = yield* client.execute(
            HttpClientRequest.setBody(
              HttpClientRequest.post(url, { headers: { accept: "application/ocsp-response" } }),
              HttpBody.uint8Array(question, "application/ocsp-request")
            )
          )
          return response.status === 200
            ? yield* bodyOf(response)
            : yield* new NoAnswer({ detail: `the responder answers ${response.status}` })
        },
        Effect.scoped,
        Effect.timeout(patience),
        Effect.catchTags({
          TimeoutException: () => new NoAnswer({ detail: "the responder does not answer in time" }),
          RequestError: () => new NoAnswer({ detail: "the responder cannot be reached" }),
          ResponseError: () => new NoAnswer({ detail: "the responder's answer breaks off" })
        })
      )

      const ask = (pair: Pair): Effect.Effect<Verdict> =>
        Option.match(Option.all([responderOf(pair.certificate), questionAbout(pair)]), {
          onNone: () => Effect.succeed(Verdict.Unasked()),
          onSome: ([url, question]) =>
            post(url, question).pipe(
              Effect.flatMap((answer) => Effect.map(Clock.currentTimeMillis, (now) => judge(answer, pair, now))),
              Effect.catchTag("NoAnswer", ({ detail }) => Effect.succeed(Verdict.Unclear({ detail })))
            )
        })

      const warn = ({ certificate }: Pair, detail: string) =>
        Effect.annotateLogs(Effect.logWarning("a certificate of store A could not be checked for revocation"), {
          certificate: certificate.parsed.subject,
          detail
        })

      const learn = Effect.fn("Ocsp.learn")(function* (key: string, pair: Pair) {
        const verdict = yield* ask(pair)
        const now = yield* Clock.currentTimeMillis
        const [oldest] = known.size < rememberedVerdicts ? [] : known.keys()
        if (oldest !== undefined) known.delete(oldest)
        known.set(key, { verdict, until: "until" in verdict ? verdict.until : now + failureKept })
        if (verdict._tag === "Unclear") yield* warn(pair, verdict.detail)
        if (verdict._tag === "Unasked") yield* warn(pair, "it names no responder")
        return verdict
      })

      const verdictOn = (pair: Pair) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const key = pair.certificate.native.fingerprint256
          const last = known.get(key)
          return last !== undefined && now < last.until ? Effect.succeed(last.verdict) : flight(key, learn(key, pair))
        })

      return Revocation.of({
        check: ([leaf, intermediate, root]) => {
          const pairs = [
            { certificate: leaf, issuer: intermediate },
            { certificate: intermediate, issuer: root }
          ]
          return Effect.flatMap(Effect.forEach(pairs, verdictOn, { concurrency: 2 }), (verdicts) =>
            Option.match(decide(strictness, verdicts), { onNone: () => Effect.void, onSome: Effect.fail })
          )
        }
      })
    })
  )
