import { Environment, SignedDataVerifier } from "@apple/app-store-server-library"
import { describe, it } from "@effect/vitest"
import { assertTrue, strictEqual } from "@effect/vitest/utils"
import { Effect, Exit, Layer, Option, TestClock } from "effect"
import { Revocation } from "../../../src/store/store-a/Ocsp.ts"
import { layer } from "../../../src/store/store-a/StoreADriver.ts"
import { StoreANotifications } from "../../../src/store/StoreNotifications.ts"
import {
  intermediateMarker,
  leafMarker,
  makeChain,
  token,
  type Twist,
  type TwistedChain
} from "../../support/TwistedChain.ts"

const bundleId = "com.example.notes"
const now = Date.now()
const day = 86_400_000

const transaction = {
  ...{ originalTransactionId: "2000", transactionId: "2001", webOrderLineItemId: "1", bundleId },
  ...{ productId: "pro.monthly", subscriptionGroupIdentifier: "g", purchaseDate: now, originalPurchaseDate: now },
  ...{ expiresDate: now + 30 * day, quantity: 1, type: "Auto-Renewable Subscription", inAppOwnershipType: "PURCHASED" },
  ...{ signedDate: now, environment: "Sandbox", price: 10_990, currency: "USD", transactionReason: "PURCHASE" },
  ...{ offerType: 1, offerDiscountType: "FREE_TRIAL", storefront: "USA", storefrontId: "143441" }
}
const renewal = {
  ...{ originalTransactionId: "2000", productId: "pro.monthly", autoRenewProductId: "pro.monthly" },
  ...{ autoRenewStatus: 1, isInBillingRetryPeriod: false, signedDate: now, environment: "Sandbox" },
  ...{ renewalDate: now + 30 * day, renewalPrice: 10_990, currency: "USD", gracePeriodExpiresDate: now + day }
}
const outer = {
  ...{ notificationType: "SUBSCRIBED", subtype: "INITIAL_BUY", version: "2.0", signedDate: now },
  notificationUUID: "0d2f7a4e-1111-4222-8333-944455556666"
}
const data = { environment: "Sandbox", bundleId, bundleVersion: "1", status: 1 }

type Fields = Record<string, unknown>
interface Parts {
  readonly outer?: Fields
  readonly data?: Fields
  readonly transaction?: Fields
  readonly renewal?: Fields
}

const notification = (chain: TwistedChain, parts: Parts = {}, sign = (payload: unknown) => token(chain, payload)) =>
  sign({
    ...(parts.outer ?? outer),
    data: {
      ...(parts.data ?? data),
      signedTransactionInfo: token(chain, parts.transaction ?? transaction),
      signedRenewalInfo: token(chain, parts.renewal ?? renewal)
    }
  })

/** Ours and the store's own library, with the same root; a library reads nested payloads when it is told to. */
const judges = (root: Buffer) => {
  const library = new SignedDataVerifier([root], false, Environment.SANDBOX, bundleId)
  const theirs = async (signedPayload: string) => {
    try {
      const { data } = await library.verifyAndDecodeNotification(signedPayload)
      if (data?.signedTransactionInfo !== undefined)
        await library.verifyAndDecodeTransaction(data.signedTransactionInfo)
      if (data?.signedRenewalInfo !== undefined) await library.verifyAndDecodeRenewalInfo(data.signedRenewalInfo)
      return true
    } catch {
      return false
    }
  }
  return Effect.gen(function* () {
    yield* TestClock.setTime(now)
    const { read } = yield* StoreANotifications
    const verdicts = (signedPayload: string) =>
      Effect.gen(function* () {
        const exit = yield* Effect.exit(read({ signedPayload, bundleId: Option.some(bundleId) }))
        assertTrue(Exit.isSuccess(exit) || exit.cause._tag === "Fail", "a defect")
        return { ours: Exit.isSuccess(exit), theirs: yield* Effect.promise(() => theirs(signedPayload)) }
      })
    return {
      /** Both accept, or both refuse. */
      agree: (signedPayload: string, verdict: "accept" | "refuse", name: string) =>
        Effect.map(verdicts(signedPayload), ({ ours, theirs }) => {
          strictEqual(ours ? "accept" : "refuse", verdict, `ours: ${name}`)
          strictEqual(theirs ? "accept" : "refuse", verdict, `the library: ${name}`)
        }),
      /** Ours alone refuses. */
      stricter: (signedPayload: string, name: string) =>
        Effect.map(verdicts(signedPayload), ({ ours, theirs }) => {
          strictEqual(ours, false, `ours: ${name}`)
          strictEqual(theirs, true, `the library: ${name}`)
        }),
      /** Never is something accepted that the library refuses. */
      neverLooser: (signedPayload: string, name: string) =>
        Effect.map(verdicts(signedPayload), ({ ours, theirs }) => {
          assertTrue(!ours || theirs, `ours accepts, the library does not: ${name}`)
          return { ours, theirs }
        })
    }
  }).pipe(Effect.provide(Layer.provide(layer({ roots: [root] }), Revocation.layerOff)))
}

const chain = Effect.cached(Effect.promise(() => makeChain())).pipe(Effect.runSync)

const certifyOnly = 4
const refusedByBoth: { readonly [name: string]: Twist } = {
  "a leaf that ran out": { leaf: { days: [-30, -1] } },
  "a leaf of tomorrow": { leaf: { days: [1, 30] } },
  "an intermediate that ran out": { intermediate: { days: [-30, -1] } },
  "an intermediate of tomorrow": { intermediate: { days: [1, 30] } },
  "a root that ran out": { root: { days: [-30, -1] } },
  "a root of tomorrow": { root: { days: [1, 30] } },
  "an intermediate that is no authority": { intermediate: { isAuthority: false, pathLength: undefined } },
  "an intermediate that may not sign certificates": { intermediate: { usages: 2 } },
  "an intermediate without constraints": { intermediate: { isAuthority: null } },
  "a leaf without its marker": { leaf: { markers: [] } },
  "a leaf with the intermediate's marker": { leaf: { markers: [intermediateMarker] } },
  "an intermediate without its marker": { intermediate: { markers: [] } },
  "an intermediate with the leaf's marker": { intermediate: { markers: [leafMarker] } },
  "a marker that only begins like it": { leaf: { markers: [`${leafMarker}.1`] } },
  "a marker that is cut short": { leaf: { markers: [leafMarker.slice(0, -2)] } },
  "a leaf in the name of another issuer": { leaf: { issuer: "CN=Somebody" } },
  "an intermediate in the name of another issuer": { intermediate: { issuer: "CN=Somebody" } },
  "a leaf that the intermediate did not sign": { leaf: { isForged: true } },
  "an intermediate that the root did not sign": { intermediate: { isForged: true } },
  "a leaf with an RSA key": { leaf: { isRsa: true } }
}

const refusedByUsAlone: { readonly [name: string]: Twist } = {
  "a root that allows no authority below": { root: { pathLength: 0 } },
  "a root that is no authority": { root: { isAuthority: false } },
  "a root that may not sign certificates": { root: { usages: 2 } },
  "a leaf that may not sign": { leaf: { usages: certifyOnly } },
  "a leaf that is an authority": { leaf: { isAuthority: true } }
}

const acceptedByBoth: { readonly [name: string]: Twist } = {
  "the genuine chain": {},
  "more markers than needed": { leaf: { markers: [leafMarker, intermediateMarker] } },
  "an intermediate without a limit below": { intermediate: { pathLength: undefined } },
  "certificates without key usage": { intermediate: { usages: null }, leaf: { usages: null } },
  "an intermediate on P-256": { intermediate: { curve: "P-256" } },
  "an intermediate with an RSA key": { intermediate: { isRsa: true } },
  "a leaf that ran out less than a minute ago": { leaf: { days: [-30, -30_000 / day] } }
}

describe("chains, held against the store's own library", () => {
  const judged = (twists: { readonly [name: string]: Twist }, verdict: "accept" | "refuse" | "stricter") =>
    Effect.forEach(
      Object.entries(twists),
      ([name, twist]) =>
        Effect.gen(function* () {
          const twisted = yield* Effect.promise(() => makeChain(twist))
          const { agree, stricter } = yield* judges(twisted.root)
          const signed = notification(twisted)
          yield* verdict === "stricter" ? stricter(signed, name) : agree(signed, verdict, name)
        }),
      { discard: true }
    )

  it.effect("both accept", () => judged(acceptedByBoth, "accept"))
  it.effect("both refuse", () => judged(refusedByBoth, "refuse"))
  it.effect("we alone refuse, as a chain of certificates asks", () => judged(refusedByUsAlone, "stricter"))

  it.effect("a foreign root, wrong order and any other number of certificates are refused by both", () =>
    Effect.gen(function* () {
      const ours = yield* chain
      const foreign = yield* Effect.promise(() => makeChain())
      const { agree, stricter } = yield* judges(ours.root)
      yield* agree(notification(foreign), "refuse", "a foreign chain")
      const [leaf, intermediate, root] = ours.x5c
      const wrong: ReadonlyArray<unknown> = [
        ...[[], [leaf], [leaf, intermediate], [leaf, intermediate, root, root], [intermediate, leaf, root]],
        ...[
          [root, intermediate, leaf],
          [leaf, leaf, root],
          [leaf, root, intermediate],
          [root, root, root]
        ],
        ...[[foreign.x5c[0], intermediate, root], [leaf, foreign.x5c[1], root], null, "x", 1, {}],
        ...[
          ["", intermediate, root],
          ["AAAA", intermediate, root],
          [leaf, "AAAA", root],
          [leaf, null, root]
        ],
        ...[[`${leaf.slice(0, 40)}${leaf.slice(44)}`, intermediate, root]]
      ]
      for (const x5c of wrong) {
        const twisted = notification(ours, {}, (payload) => token(ours, payload, { x5c }))
        yield* agree(twisted, "refuse", JSON.stringify(x5c).slice(0, 80))
      }
      for (const third of [foreign.x5c[2], leaf, "AAAA", ""]) {
        const twisted = notification(ours, {}, (payload) => token(ours, payload, { x5c: [leaf, intermediate, third] }))
        yield* stricter(twisted, "the third certificate is not the pinned root: the library never looks at it")
      }
    })
  )

  it.effect("we alone refuse what was signed while the chain was valid and comes when it is not", () =>
    Effect.gen(function* () {
      const old = yield* Effect.promise(() => makeChain({ leaf: { days: [-300, -10] } }))
      const { stricter } = yield* judges(old.root)
      const then = { signedDate: now - 20 * day }
      const signed = notification(old, {
        outer: { ...outer, ...then },
        transaction: { ...transaction, ...then },
        renewal: { ...renewal, ...then }
      })
      yield* stricter(signed, "the library takes the payload's own word for the time")
    })
  )
})

const base64url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const number = (bytes: Buffer) => BigInt(`0x${bytes.toString("hex")}`)
const bytesOf = (value: bigint) => Buffer.from(value.toString(16).padStart(64, "0"), "hex")

describe("tokens, held against the store's own library", () => {
  it.effect("each byte of a signature, and each special number in it", () =>
    Effect.gen(function* () {
      const ours = yield* chain
      const { agree } = yield* judges(ours.root)
      const signed = notification(ours)
      const at = signed.lastIndexOf(".") + 1
      const bytes = Buffer.from(signed.slice(at), "base64url")
      const withBytes = (changed: Buffer) => `${signed.slice(0, at)}${changed.toString("base64url")}`
      for (let place = 0; place < bytes.length; place++) {
        for (const mask of [1, 0x80, 0xff]) {
          const changed = Buffer.from(bytes)
          changed[place] = (changed[place] ?? 0) ^ mask
          yield* agree(withBytes(changed), "refuse", `byte ${place}`)
        }
      }
      const [r, s] = [bytes.subarray(0, 32), bytes.subarray(32)]
      const numbers = [0n, 1n, order - 1n, order, order + 1n, (1n << 256n) - 1n].map(bytesOf)
      for (const special of numbers) {
        yield* agree(withBytes(Buffer.concat([special, s])), "refuse", "r")
        yield* agree(withBytes(Buffer.concat([r, special])), "refuse", "s")
        for (const other of numbers) yield* agree(withBytes(Buffer.concat([special, other])), "refuse", "r and s")
      }
      yield* agree(withBytes(Buffer.concat([s, r])), "refuse", "r and s in each other's place")
      yield* agree(withBytes(Buffer.concat([r, bytesOf(order - number(s))])), "accept", "the other s of the same")
      for (const length of [0, 1, 31, 32, 33, 63]) yield* agree(withBytes(bytes.subarray(0, length)), "refuse", "cut")
      for (const more of [1, 32, 64]) {
        yield* agree(withBytes(Buffer.concat([bytes, Buffer.alloc(more)])), "refuse", "longer")
        yield* agree(withBytes(Buffer.concat([Buffer.alloc(more), bytes])), "refuse", "longer in front")
      }
    })
  )

  it.effect("other forms of signature, of encoding and of header", () =>
    Effect.gen(function* () {
      const ours = yield* chain
      const { agree, neverLooser, stricter } = yield* judges(ours.root)
      const signed = notification(ours)
      const [header = "", payload = "", signature = ""] = signed.split(".")
      const as = (header: object, how: Parameters<typeof token>[3] = {}) =>
        notification(ours, {}, (content) => token(ours, content, header, how))
      for (const alg of [
        "none",
        "None",
        "HS256",
        "HS384",
        "ES384",
        "ES512",
        "RS256",
        "PS256",
        "EdDSA",
        "es256",
        "",
        1,
        null
      ]) {
        yield* agree(as({ alg }), "refuse", String(alg))
      }
      yield* agree(as({}, { form: "der" }), "refuse", "DER")
      for (const hash of ["sha1", "sha384", "sha512"]) yield* agree(as({}, { hash }), "refuse", hash)
      for (const text of [
        ...[`${signed}=`, `${signed}==`, `${signed} `, ` ${signed}`, `${signed}\n`, `${signed}.`, `.${signed}`],
        ...[`${header}.${payload}`, `${header}.${payload}.`, `${header}..${signature}`, `.${payload}.${signature}`],
        ...[
          `${header}=.${payload}.${signature}`,
          `${header}.${payload}=.${signature}`,
          `${payload}.${header}.${signature}`
        ],
        ...[`${header}.${payload}.${signature}.${signature}`, `${header}.${payload}.${payload}`]
      ]) {
        yield* agree(text, "refuse", text.slice(-20))
      }
      const last = base64url.indexOf(signature.at(-1) ?? "")
      for (let bits = 1; bits < 16; bits++) {
        const twin = `${header}.${payload}.${signature.slice(0, -1)}${base64url[(last & 48) | ((last + bits) & 15)]}`
        yield* agree(twin, "accept", "bits of the last letter that carry nothing")
      }
      yield* agree(as({ kid: "x", typ: "JWT", extra: [1] }), "accept", "members that nobody knows")
      yield* stricter(as({ crit: ["exp"] }), "crit, which the library does not heed")
      const big = yield* Effect.promise(() => makeChain({ leaf: { curve: "P-384" } }))
      const withBig = yield* judges(big.root)
      const es384 = (content: unknown) => token(big, content, { alg: "ES384" }, { hash: "sha384" })
      const inner = { signedTransactionInfo: es384(transaction), signedRenewalInfo: es384(renewal) }
      yield* withBig.stricter(es384({ ...outer, data: { ...data, ...inner } }), "ES384, which the store does not use")
      for (let place = 0; place < header.length; place += 67) {
        const letter = header[place] === "A" ? "B" : "A"
        yield* neverLooser(
          `${header.slice(0, place)}${letter}${header.slice(place + 1)}.${payload}.${signature}`,
          "header"
        )
      }
      for (let place = 0; place < payload.length; place += 41) {
        const letter = payload[place] === "A" ? "B" : "A"
        yield* agree(
          `${header}.${payload.slice(0, place)}${letter}${payload.slice(place + 1)}.${signature}`,
          "refuse",
          "payload"
        )
      }
    })
  )

  /** Looser than the library, which checks the form of members that we do not use: the store's signature is on them. */
  const unused = [
    ...["outer.version", "data.bundleVersion", "renewal.currency", "renewal.productId", "renewal.renewalDate"],
    ...["renewal.renewalPrice", "renewal.signedDate", "transaction.quantity", "transaction.storefront"],
    ...["transaction.storefrontId", "transaction.subscriptionGroupIdentifier", "transaction.webOrderLineItemId"]
  ]
  /** And it asks whether the chain was valid at the moment that the payload names; we ask whether it is now. */
  const moments = ["outer.signedDate", "transaction.signedDate"]

  const values: ReadonlyArray<unknown> = [
    "",
    "x",
    "Production",
    "Xcode",
    0,
    -1,
    1.5,
    1e15,
    true,
    null,
    [],
    {},
    "9".repeat(30)
  ]
  const fieldsOf = { outer, data, transaction, renewal }

  it.effect("each field of each payload, gone or with any other value, genuinely signed", () =>
    Effect.gen(function* () {
      const ours = yield* chain
      const { neverLooser } = yield* judges(ours.root)
      const looser: Array<string> = []
      let seen = 0
      for (const part of ["outer", "data", "transaction", "renewal"] as const) {
        const fields: Fields = fieldsOf[part]
        for (const name of Object.keys(fields)) {
          const { [name]: _, ...without } = fields
          for (const changed of [without, ...values.map((value) => ({ ...fields, [name]: value }))]) {
            seen += 1
            const judged = yield* Effect.exit(neverLooser(notification(ours, { [part]: changed }), `${part}.${name}`))
            if (Exit.isFailure(judged)) looser.push(`${part}.${name}`)
          }
        }
      }
      assertTrue(seen > 500)
      strictEqual([...new Set(looser)].sort().join(), [...unused, ...moments].sort().join())
    })
  )
})
