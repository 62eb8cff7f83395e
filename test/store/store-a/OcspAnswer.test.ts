import { describe, it } from "@effect/vitest"
import { assertNone, assertSome, assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import type { CertID } from "@peculiar/asn1-ocsp"
import { Effect, FastCheck, Option } from "effect"
import { type Answering, respond, type Status } from "../../../src/simulator/store-a/OcspResponder.ts"
import { makeAuthority } from "../../../src/simulator/store-a/SigningAuthority.ts"
import { parseCertificate } from "../../../src/store/store-a/Certificate.ts"
import { judge, Verdict } from "../../../src/store/store-a/OcspAnswer.ts"
import { questionAbout, responderOf } from "../../../src/store/store-a/OcspQuestion.ts"
import { hour, makeDelegate, makeSide, someSide } from "../../support/OcspSide.ts"

const now = Math.floor(Date.now() / 1000) * 1000
const minute = 60_000

const side = Effect.runSync(Effect.cached(someSide))

const judged = Effect.fn(function* (status: Status, how: Partial<Answering> = {}) {
  const { answer, pair } = yield* side
  return judge(yield* answer(now, status, how), pair, now)
})

const detailOf = (verdict: Verdict) => (verdict._tag === "Unclear" ? verdict.detail : verdict._tag)

describe("what an OCSP responder says", () => {
  it.effect("good and revoked are believed until the next update, unknown is unclear", () =>
    Effect.gen(function* () {
      deepStrictEqual(yield* judged("good"), Verdict.Good({ until: now + hour }))
      deepStrictEqual(yield* judged("revoked"), Verdict.Revoked({ until: now + hour }))
      strictEqual(detailOf(yield* judged("unknown")), "the responder does not know the certificate")
    })
  )

  it.effect("is remembered for twelve hours at most, and for five minutes when no update is announced", () =>
    Effect.gen(function* () {
      const { answer, pair } = yield* side
      deepStrictEqual(yield* judged("good", { nextUpdate: now + 100 * hour }), Verdict.Good({ until: now + 12 * hour }))
      const open = yield* answer(now, "good", { nextUpdate: null })
      deepStrictEqual(judge(open, pair, now), Verdict.Good({ until: now + 5 * minute }))
      strictEqual(detailOf(judge(open, pair, now + 12 * hour)), "an answer that is not fresh")
    })
  )

  it.effect("is believed while it is fresh, a minute of skew either way", () =>
    Effect.gen(function* () {
      const { answer, pair } = yield* side
      const bytes = yield* answer(now, "good")
      for (const at of [now - hour - minute, now, now + hour + minute]) strictEqual(judge(bytes, pair, at)._tag, "Good")
      for (const at of [now - hour - minute - 1, now + hour + minute + 1]) {
        strictEqual(detailOf(judge(bytes, pair, at)), "an answer that is not fresh")
      }
      const backwards = yield* answer(now, "good", { thisUpdate: now, nextUpdate: now - 1_000 })
      strictEqual(detailOf(judge(backwards, pair, now)), "an answer that is not fresh")
    })
  )

  it.effect("is believed of whom the issuer made its responder, and of nobody else", () =>
    Effect.gen(function* () {
      const { issuer } = yield* side
      const stranger = (yield* makeAuthority()).issuers[1]
      const delegate = yield* makeDelegate(issuer)
      strictEqual((yield* judged("good", { delegate }))._tag, "Good")
      strictEqual((yield* judged("revoked", { delegate }))._tag, "Revoked")
      const impostors = [
        yield* makeDelegate(issuer, { purpose: "1.3.6.1.5.5.7.3.1" }),
        yield* makeDelegate(issuer, { notAfter: new Date(now - 24 * hour) }),
        yield* makeDelegate(issuer, { signedBy: stranger }),
        stranger
      ]
      for (const one of impostors) {
        for (const status of ["good", "revoked"] as const) {
          const verdict = yield* judged(status, { delegate: one })
          strictEqual(detailOf(verdict), "the signer may not answer for the issuer")
        }
      }
      strictEqual(detailOf(yield* judged("good", { forger: stranger.key })), "the signature does not verify")
      const forged = yield* judged("good", { delegate, forger: stranger.key })
      strictEqual(detailOf(forged), "the signature does not verify")
    })
  )

  it.effect("about another certificate says nothing about this one", () =>
    Effect.gen(function* () {
      const changes: ReadonlyArray<(id: CertID) => Partial<CertID>> = [
        () => ({ serialNumber: new Uint8Array([9]).buffer }),
        ({ issuerKeyHash }) => ({ issuerNameHash: issuerKeyHash }),
        ({ issuerNameHash }) => ({ issuerKeyHash: issuerNameHash })
      ]
      for (const change of changes) {
        const verdict = yield* judged("good", { renamed: (id) => Object.assign(id, change(id)) })
        strictEqual(detailOf(verdict), "an answer about another certificate")
      }
      const { answer, pair } = yield* side
      const other = yield* someSide
      strictEqual(judge(yield* other.answer(now, "good"), pair, now)._tag, "Unclear")
      strictEqual(judge(yield* answer(now, "good"), other.pair, now)._tag, "Unclear")
    })
  )

  it.effect("is never good for one changed byte of a revocation, and unclear when cut off", () =>
    Effect.gen(function* () {
      const { answer, pair } = yield* side
      const bytes = yield* answer(now, "revoked")
      for (let at = 0; at < bytes.length; at += 1) {
        const twisted = Uint8Array.from(bytes, (byte, index) => (index === at ? byte ^ 1 : byte))
        assertTrue(judge(twisted, pair, now)._tag !== "Good", String(at))
        assertTrue(judge(bytes.subarray(0, at), pair, now)._tag === "Unclear", String(at))
      }
    })
  )

  it.effect("garbage is unclear and never a defect", () =>
    Effect.gen(function* () {
      const { answer, pair } = yield* side
      const genuine = yield* answer(now, "good")
      FastCheck.assert(
        FastCheck.property(FastCheck.uint8Array({ maxLength: 2_000 }), (bytes) => {
          strictEqual(judge(bytes, pair, now)._tag, "Unclear")
        })
      )
      FastCheck.assert(
        FastCheck.property(
          FastCheck.nat(genuine.length - 1),
          FastCheck.uint8Array({ minLength: 1, maxLength: 40 }),
          (at, bytes) => {
            const twisted = Uint8Array.from(genuine)
            twisted.set(bytes.subarray(0, genuine.length - at), at)
            assertTrue(judge(twisted, pair, now)._tag !== "Revoked")
          }
        )
      )
      strictEqual(judge(new Uint8Array(65_536).fill(0x30), pair, now)._tag, "Unclear")
      strictEqual(
        detailOf(judge(new Uint8Array([0x30, 3, 0x0a, 1, 3]), pair, now)),
        "the responder answers with status 3"
      )
    })
  )
})

describe("whom to ask", () => {
  it.effect("is the responder that the certificate names, if it speaks HTTP", () =>
    Effect.gen(function* () {
      assertNone(responderOf((yield* side).pair.certificate))
      for (const [ocspUrl, isAsked] of [
        ["http://ocsp.example.com/a", true],
        ["https://ocsp.example.com/a", true],
        ["ldap://ocsp.example.com/a", false],
        ["file:///etc/passwd", false],
        ["nonsense", false]
      ] as const) {
        const { pair } = yield* makeSide(yield* makeAuthority({ ocspUrl }))
        if (isAsked) assertSome(responderOf(pair.certificate), ocspUrl)
        else assertNone(responderOf(pair.certificate))
      }
    })
  )

  it.effect("the question is small and the same each time, so that answers can be cached on the way", () =>
    Effect.gen(function* () {
      const { pair, question } = yield* side
      assertTrue(question.length < 100)
      assertSome(questionAbout(pair), question)
    })
  )

  it.effect("names a certificate by its serial number as that stands in it, and knows the answer by it", () =>
    Effect.gen(function* () {
      const { issuer, pair } = yield* side
      const authority = [issuer]
      for (const [serialNumber, der] of [
        ["7f00000000000001", "02087f00000000000001"],
        ["c300000000000001", "020900c300000000000001"],
        ["00c300000000000001", "020900c300000000000001"]
      ] as const) {
        const { certificate } = yield* makeDelegate(issuer, { serialNumber })
        const about = { ...pair, certificate: Option.getOrThrow(parseCertificate(new Uint8Array(certificate.rawData))) }
        const question = Option.getOrThrow(questionAbout(about))
        assertTrue(Buffer.from(question).toString("hex").includes(der), Buffer.from(question).toString("hex"))
        const how = { statusOf: () => "good" as const, thisUpdate: now, nextUpdate: now + hour }
        strictEqual(judge(yield* respond(authority, question, how), about, now)._tag, "Good")
      }
    })
  )
})
