import { describe, it } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { buy, eventually, giveCredential, makeApp, makeWorld } from "../support/Story.ts"

const user = "0d2f7a4e-7c1b-4a9e-8f0a-944455556666"

const setting = Effect.gen(function* () {
  const world = yield* makeWorld
  const PORT = String(yield* Gatehouse.freePort)
  const control = (method: string, path: string, body?: object) =>
    call(method, `${world.storeA.url}/_control${path}`, { body })
  const asked = Effect.map(
    control("GET", "/requests"),
    ({ body }) => body.filter(({ path }: { path: string }) => path === "/ocsp").length
  )
  const start = (strictness: string) => Gatehouse.serve({ ...world.env, PORT, STORE_A_OCSP: strictness })
  const looksOf = (app: { readonly id: string; readonly token: string; readonly key: string }) => {
    const api = `http://127.0.0.1:${PORT}/api/v1`
    return {
      subscriber: Effect.map(
        call("GET", `${api}/client/subscribers/${user}`, { token: app.key }),
        ({ body }) => body.subscriber
      ),
      receipt: (transactionId: string) =>
        call("POST", `${api}/client/receipts`, {
          token: app.key,
          body: { store: "store_a", app_user_id: user, transaction_id: transactionId }
        }),
      inbox: Effect.map(
        call("GET", `${api}/apps/${app.id}/store-notifications`, { token: app.token }),
        ({ body }): ReadonlyArray<unknown> => body.data
      )
    }
  }
  const resend = (bought: { readonly body: any }) =>
    Effect.map(
      control("POST", `/notifications/${bought.body.notification.notificationUUID}/resend`),
      ({ body }): number => body.receiver.status
    )
  const untilAnswered = (bought: { readonly body: any }, status: number) =>
    eventually(
      Effect.map(resend(bought), (answered) => (answered === status ? true : undefined)),
      String(status)
    )
  return { asked, control, looksOf, resend, start, untilAnswered, world }
})

describe("certificates of store A that are revoked", () => {
  it.live(
    "nobody is asked unless the operator wants it",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { asked, control, start, world } = yield* setting
          yield* control("POST", "/ocsp", { certificate: "leaf", status: "revoked" })
          const { url } = yield* start("off")
          const app = yield* makeApp(url, world.receiver.url)
          strictEqual((yield* buy(world, url, app.id)).body.receiver.status, 200)
          strictEqual(yield* asked, 0)
        })
      ),
    240_000
  )

  it.live(
    "soft: are refused and change nothing; a responder that is down is told in the log and lets pass",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { asked, control, looksOf, resend, start, untilAnswered, world } = yield* setting
          const program = yield* start("soft")
          const { url } = program
          const app = yield* makeApp(url, world.receiver.url)
          const { inbox, subscriber } = looksOf(app)
          const bought = yield* buy(world, url, app.id)
          strictEqual(bought.body.receiver.status, 200)
          strictEqual(yield* asked, 2)
          const before = [yield* subscriber, yield* inbox]

          yield* control("POST", "/ocsp", { certificate: "intermediate", status: "revoked" })
          yield* untilAnswered(bought, 401)
          const purchase: string = bought.body.purchase.originalTransactionId
          const renewed = yield* control("POST", `/purchases/${purchase}/renew`)
          strictEqual(renewed.body.receiver.status, 401)
          deepStrictEqual([yield* subscriber, yield* inbox], before)
          assertTrue(program.output().includes("a certificate is revoked"))
          assertTrue(!program.output().includes("could not be checked"))

          yield* control("POST", "/failures", { path: "/ocsp", kind: "reset", times: null })
          yield* untilAnswered(bought, 200)
          strictEqual(yield* resend(renewed), 200)
          strictEqual((yield* inbox).length, 2)
          assertTrue(program.output().includes("a certificate of store A could not be checked for revocation"))
        })
      ),
    240_000
  )

  it.live(
    "hard: while a responder is down nothing is believed, and nothing is lost: what was told is asked for afterwards",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { control, looksOf, start, untilAnswered, world } = yield* setting
          yield* control("POST", "/failures", { path: "/ocsp", kind: "reset", times: null })
          const first = yield* start("hard")
          const app = yield* makeApp(first.url, world.receiver.url)
          yield* giveCredential(world, first.url, app)
          const { inbox, receipt, subscriber } = looksOf(app)
          const bought = yield* buy(world, first.url, app.id)
          strictEqual(bought.body.receiver.status, 503)
          const told = yield* call("POST", `${first.url}/api/v1/stores/store_a/notifications/${app.id}`, {
            body: { signedPayload: bought.body.notification.signedPayload }
          })
          deepStrictEqual([told.status, told.headers.get("retry-after")], [503, "300"])
          const shown = yield* receipt(bought.body.purchase.transactionId)
          strictEqual(shown.status, 503)
          assertTrue(Number(shown.headers.get("retry-after")) > 0)
          deepStrictEqual(yield* inbox, [])
          deepStrictEqual((yield* subscriber).subscriptions, {})

          yield* Gatehouse.kill9(first)
          const second = yield* start("hard")
          const isPutOff = Effect.sync(() =>
            second.output().includes("could not be asked for what it told") ? true : undefined
          )
          yield* eventually(isPutOff, "a catch-up that is put off")
          deepStrictEqual(yield* inbox, [])

          yield* Gatehouse.kill9(second)
          yield* control("DELETE", "/failures")
          yield* start("hard")
          yield* eventually(
            Effect.map(inbox, ({ length }) => (length === 1 ? true : undefined)),
            "what was missed"
          )
          assertTrue((yield* subscriber).entitlements.pro.is_active)
          strictEqual((yield* receipt(bought.body.purchase.transactionId)).status, 200)

          yield* control("POST", "/ocsp", { certificate: "leaf", status: "revoked" })
          yield* untilAnswered(bought, 401)
        })
      ),
    240_000
  )
})
