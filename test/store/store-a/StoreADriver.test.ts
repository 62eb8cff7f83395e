import { Environment, SignedDataVerifier } from "@apple/app-store-server-library"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Exit, Layer, Option, TestClock } from "effect"
import { makeAuthority, type SigningAuthority } from "../../../src/simulator/store-a/SigningAuthority.ts"
import { Revocation } from "../../../src/store/store-a/Ocsp.ts"
import { layer } from "../../../src/store/store-a/StoreADriver.ts"
import { StoreANotifications } from "../../../src/store/StoreNotifications.ts"

const bundleId = "com.example.notes"
const day = 86_400_000

const rootOf = (authority: SigningAuthority) => Buffer.from(authority.chain[2], "base64")

const payload = (
  authority: SigningAuthority,
  changes: { readonly bundleId?: string; readonly environment?: string; readonly inner?: string } = {}
) =>
  Effect.gen(function* () {
    const now = Date.now()
    const transaction = yield* authority.sign({
      originalTransactionId: "2000",
      transactionId: "2001",
      bundleId: changes.inner ?? changes.bundleId ?? bundleId,
      productId: "pro.monthly",
      purchaseDate: now,
      originalPurchaseDate: now,
      expiresDate: now + 30 * day,
      type: "Auto-Renewable Subscription",
      inAppOwnershipType: "PURCHASED",
      signedDate: now,
      environment: changes.environment ?? "Sandbox",
      price: 10_990,
      currency: "USD"
    })
    return yield* authority.sign({
      notificationType: "SUBSCRIBED",
      subtype: "INITIAL_BUY",
      notificationUUID: "0d2f7a4e-1111-4222-8333-944455556666",
      version: "2.0",
      signedDate: now,
      data: {
        environment: changes.environment ?? "Sandbox",
        bundleId: changes.bundleId ?? bundleId,
        signedTransactionInfo: transaction,
        status: 1
      }
    })
  })

const ours = (signedPayload: string, trusted: SigningAuthority) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(Date.now())
    const notifications = yield* StoreANotifications
    return yield* notifications.read({ signedPayload, bundleId: Option.some(bundleId) })
  }).pipe(Effect.provide(Layer.provide(layer({ roots: [rootOf(trusted)] }), Revocation.layerOff)))

const theirs = (signedPayload: string, trusted: SigningAuthority) =>
  Effect.exit(
    Effect.tryPromise(() =>
      new SignedDataVerifier([rootOf(trusted)], false, Environment.SANDBOX, bundleId).verifyAndDecodeNotification(
        signedPayload
      )
    )
  )

const bothRefuse = Effect.fn(function* (signedPayload: string, trusted: SigningAuthority) {
  const mine = yield* Effect.exit(ours(signedPayload, trusted))
  const other = yield* theirs(signedPayload, trusted)
  assert.isTrue(Exit.isFailure(mine), "ours accepts")
  assert.isTrue(Exit.isFailure(other), "the oracle accepts")
})

const flip = (text: string, at: number) => {
  const letter = text[at] === "A" ? "B" : "A"
  return text.slice(0, at) + letter + text.slice(at + 1)
}

describe("store A's signed notifications", () => {
  it.effect("a genuine one is read, as the store's own library reads it", () =>
    Effect.gen(function* () {
      const authority = yield* makeAuthority()
      const signed = yield* payload(authority)
      const read = yield* ours(signed, authority)
      assert.isTrue(Exit.isSuccess(yield* theirs(signed, authority)))
      const fact = Option.getOrThrow(read.fact)
      assert.strictEqual(fact.kind, "purchased")
      assert.strictEqual(fact.environment, "sandbox")
      deepStrictEqual(fact.transaction.priceMicros, Option.some(10_990_000))
    })
  )

  const badAuthorities = {
    "an expired chain": { notBefore: new Date(Date.now() - 30 * day), notAfter: new Date(Date.now() - day) },
    "a chain that is not valid yet": {
      notBefore: new Date(Date.now() + day),
      notAfter: new Date(Date.now() + 30 * day)
    },
    "a leaf without its marker": { leafMarker: false },
    "an intermediate without its marker": { intermediateMarker: false },
    "an intermediate that is no authority": { intermediateIsAuthority: false, intermediateMaySignCertificates: false }
  }
  for (const [name, options] of Object.entries(badAuthorities)) {
    it.effect(`${name} is refused, by the oracle too`, () =>
      Effect.gen(function* () {
        const authority = yield* makeAuthority(options)
        yield* bothRefuse(yield* payload(authority), authority)
      })
    )
  }

  it.effect("a root whose path is too short is refused; here we are stricter than the oracle", () =>
    Effect.gen(function* () {
      const authority = yield* makeAuthority({ rootPathLength: 0 })
      assert.isTrue(Exit.isFailure(yield* Effect.exit(ours(yield* payload(authority), authority))))
    })
  )

  it.effect("a foreign authority, a swapped chain and another bundle are refused", () =>
    Effect.gen(function* () {
      const authority = yield* makeAuthority()
      const foreign = yield* makeAuthority()
      yield* bothRefuse(yield* payload(foreign), authority)
      yield* bothRefuse(yield* payload(authority, { bundleId: "com.example.other" }), authority)
      const inner = yield* payload(authority, { inner: "com.example.other" })
      assert.isTrue(Exit.isFailure(yield* Effect.exit(ours(inner, authority))))
      const [header = "", ...rest] = (yield* payload(authority)).split(".")
      const decoded: { x5c: Array<string> } = JSON.parse(Buffer.from(header, "base64url").toString())
      const variants = [
        [decoded.x5c[1], decoded.x5c[0], decoded.x5c[2]],
        [decoded.x5c[0], decoded.x5c[1], foreign.chain[2]],
        [foreign.chain[0], decoded.x5c[1], decoded.x5c[2]],
        [...decoded.x5c, decoded.x5c[2]],
        decoded.x5c.slice(0, 2),
        []
      ]
      for (const x5c of variants) {
        const twisted = Buffer.from(JSON.stringify({ ...decoded, x5c })).toString("base64url")
        yield* bothRefuse([twisted, ...rest].join("."), authority)
      }
      for (const alg of ["none", "HS256", "ES384"]) {
        const twisted = Buffer.from(JSON.stringify({ ...decoded, alg })).toString("base64url")
        yield* bothRefuse([twisted, ...rest].join("."), authority)
      }
    })
  )

  it.effect("an environment that is never signed for servers is refused", () =>
    Effect.gen(function* () {
      const authority = yield* makeAuthority()
      for (const environment of ["Xcode", "LocalTesting"]) {
        yield* bothRefuse(yield* payload(authority, { environment }), authority)
      }
    })
  )

  it.effect("a changed letter anywhere in payload or signature is refused, by the oracle too", () =>
    Effect.gen(function* () {
      const authority = yield* makeAuthority()
      const signed = yield* payload(authority)
      const payloadAt = signed.indexOf(".") + 1
      const signatureAt = signed.lastIndexOf(".") + 1
      const step = Math.floor((signed.length - payloadAt) / 60)
      for (let at = payloadAt; at < signed.length - 2; at += step) {
        if (at !== signatureAt - 1) yield* bothRefuse(flip(signed, at), authority)
      }
    })
  )

  it.effect("garbage is refused and never a defect", () =>
    Effect.gen(function* () {
      const authority = yield* makeAuthority()
      for (const text of ["", ".", "..", "a.b.c", "e30.e30.e30", "x".repeat(400_000)]) {
        const exit = yield* Effect.exit(ours(text, authority))
        assert.isTrue(Exit.isFailure(exit) && exit.cause._tag === "Fail", text.slice(0, 20))
      }
    })
  )
})
