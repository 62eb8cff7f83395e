import { Environment, SignedDataVerifier } from "@apple/app-store-server-library"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { strictEqual } from "@effect/vitest/utils"
import { Effect, Exit, Layer } from "effect"
import { bind } from "../../../src/simulator/SimulatorServer.ts"
import { type Answering, respond } from "../../../src/simulator/store-a/OcspResponder.ts"
import { makeAuthority } from "../../../src/simulator/store-a/SigningAuthority.ts"
import { layer, Revocation } from "../../../src/store/store-a/Ocsp.ts"
import { hour, makeDelegate, makeSide } from "../../support/OcspSide.ts"

const bundleId = "com.example.notes"

/**
 * A real responder whose answers about the leaf are made as told; about the intermediate it always says good. The library
 * believes delegates alone.
 */
const setting = Effect.gen(function* () {
  const { serve, url } = yield* bind(0)
  const authority = yield* makeAuthority({ ocspUrl: `${url}/ocsp` })
  const { chain, issuer } = yield* makeSide(authority)
  const ofRoot = yield* makeDelegate(authority.issuers[0])
  const state: { how: Partial<Answering> } = { how: {} }
  yield* serve(
    HttpRouter.post(
      HttpRouter.empty,
      "/ocsp",
      Effect.gen(function* () {
        const question = new Uint8Array(
          yield* Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => request.arrayBuffer)
        )
        const good = { statusOf: () => "good" as const, thisUpdate: Date.now() - hour, nextUpdate: Date.now() + hour }
        const isLeaf = Buffer.from(question).toString("hex").includes("020103")
        const answer = yield* respond(
          authority.issuers,
          question,
          isLeaf ? { ...good, ...state.how } : { ...good, delegate: ofRoot }
        )
        return HttpServerResponse.uint8Array(answer, { contentType: "application/ocsp-response" })
      })
    )
  )
  const jws = yield* authority.sign({ transactionId: "1", bundleId, environment: "Sandbox", signedDate: Date.now() })
  const ours = Effect.gen(function* () {
    const context = yield* Layer.build(layer("hard").pipe(Layer.provide(NodeHttpClient.layerUndici)))
    const { check } = yield* Effect.provide(Revocation, context)
    return Exit.isSuccess(yield* Effect.exit(check(chain)))
  }).pipe(Effect.scoped)
  const root = Buffer.from(authority.chain[2], "base64")
  const theirs = Effect.map(
    Effect.exit(
      Effect.tryPromise(() =>
        new SignedDataVerifier([root], true, Environment.SANDBOX, bundleId).verifyAndDecodeTransaction(jws)
      )
    ),
    Exit.isSuccess
  )
  return { issuer, ours, state, theirs }
})

describe("the store's own library, with its online checks, at the same responder", () => {
  it.scopedLive(
    "accepts and refuses what we do, but for what is named",
    () =>
      Effect.gen(function* () {
        const { issuer, ours, state, theirs } = yield* setting
        const stranger = (yield* makeAuthority()).issuers[1]
        const delegate = yield* makeDelegate(issuer)
        const stale = { thisUpdate: Date.now() - 3 * hour, nextUpdate: Date.now() - 2 * hour }
        const early = { thisUpdate: Date.now() + hour, nextUpdate: Date.now() + 2 * hour }
        const cases: ReadonlyArray<readonly [string, boolean, Partial<Answering>]> = [
          ["good", true, { delegate }],
          ["revoked", false, { delegate, statusOf: () => "revoked" }],
          ["unknown", false, { delegate, statusOf: () => "unknown" }],
          ["forged", false, { delegate, forger: stranger.key }],
          ["of a stranger", false, { delegate: stranger }],
          ["of a delegate for something else", false, { delegate: yield* makeDelegate(issuer, { purpose: "1.2.3" }) }],
          [
            "of a delegate whose time is over",
            false,
            { delegate: yield* makeDelegate(issuer, { notAfter: new Date(Date.now() - 2 * hour) }) }
          ],
          [
            "about another certificate",
            false,
            { delegate, renamed: (id) => Object.assign(id, { serialNumber: new Uint8Array([9]).buffer }) }
          ]
        ]
        for (const [name, isGood, how] of cases) {
          state.how = how
          strictEqual(yield* ours, isGood, `ours: ${name}`)
          strictEqual(yield* theirs, isGood, `theirs: ${name}`)
        }
        const apart: typeof cases = [
          ["by the issuer itself: the library compares keys by identity", true, {}],
          ["stale: the library never reads a time", false, { delegate, ...stale }],
          ["from the future: as before", false, { delegate, ...early }]
        ]
        for (const [name, isGood, how] of apart) {
          state.how = how
          strictEqual(yield* ours, isGood, `ours: ${name}`)
          strictEqual(yield* theirs, !isGood, `theirs: ${name}`)
        }
      }),
    240_000
  )
})
