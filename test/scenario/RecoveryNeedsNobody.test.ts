import { layer } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { call } from "../support/Api.ts"
import { hurry } from "../support/Hurry.ts"
import { answered, makeTeam, World } from "../support/StoreBWorld.ts"
import { until } from "../support/Until.ts"

/** What the store, or the road to it, can be like; and the words under which a push waits for that to be over. */
const troubles = [
  ["outage", "the store does not answer"],
  ["garbage", "the store answers wrongly"],
  ["half_open", "the store does not answer"],
  ["broken_off", "the store does not answer"],
  ["rate_limited", "the store asks for a pause"],
  ["unauthorized", "the store refuses the credential"],
  ["forbidden", "the store refuses the credential"],
  ["conflict", "the store asks for a pause"],
  ["server_error", "the store does not answer"],
  ["token_endpoint_down", "the store does not answer"],
  ["token_refused", "the store refuses the credential"]
] as const

const fail = (failure: object) =>
  Effect.flatMap(World, ({ store }) => call("POST", `${store.url}/_control/failures`, { body: failure }))

const forgive = Effect.flatMap(World, ({ store }) => call("DELETE", `${store.url}/_control/failures`))

layer(World.layer, { excludeTestServices: true })("while the store is in the way", (it) => {
  for (const [preset, words] of troubles) {
    it.effect(
      `(${preset}) a push is accepted and waits, a receipt is put off, and both work afterwards`,
      () =>
        Effect.gen(function* () {
          const team = yield* makeTeam
          yield* team.giveCredential
          const { databaseUrl } = yield* World
          const silent = yield* team.buy({ notification_url: undefined, obfuscated_account_id: undefined })
          if (preset.startsWith("token")) {
            yield* fail({ preset: "unauthorized", path: "subscriptionsv2" })
            strictEqual((yield* team.show(silent.body.purchase.token, "ben")).status, 503)
          }
          yield* fail({ preset, times: null, ...(preset.startsWith("token") ? {} : { path: "subscriptionsv2" }) })

          const [bought, receipt] = yield* Effect.all([team.buy(), team.show(silent.body.purchase.token, "ben")], {
            concurrency: 2
          })
          deepStrictEqual([answered(bought).status, answered(bought).data.status], [200, "accepted"])
          const [waiting] = yield* team.inbox
          strictEqual(waiting.state, "pending")
          assertTrue(waiting.reason.startsWith(words), waiting.reason)
          strictEqual(receipt.status, 503)
          assertTrue(Number(receipt.headers.get("retry-after")) > 0)
          deepStrictEqual(yield* team.types, [])

          yield* forgive
          yield* hurry(databaseUrl)
          yield* until(team.inbox, ([row]) => row.state === "applied")
          assertTrue((yield* team.subscriber).entitlements.pro.is_active)
          strictEqual((yield* team.show(silent.body.purchase.token, "ben")).status, 200)
          const told = (yield* team.types).filter((type) => type === "subscription.started")
          strictEqual(told.length, 2)
        }),
      240_000
    )
  }

  it.effect("a slow answer is waited for", () =>
    Effect.gen(function* () {
      const team = yield* makeTeam
      yield* team.giveCredential
      yield* fail({ preset: "slow", path: "subscriptionsv2", delay_ms: 3_000 })
      const bought = yield* team.buy()
      strictEqual(answered(bought).data.status, "accepted")
      strictEqual((yield* team.inbox)[0].state, "applied")
    })
  )

  it.effect("an answer about another app is never believed", () =>
    Effect.gen(function* () {
      const team = yield* makeTeam
      yield* team.giveCredential
      yield* fail({ preset: "another_app", path: "subscriptionsv2" })
      const silent = yield* team.buy({ notification_url: undefined })
      const shown = yield* team.show(silent.body.purchase.token, "ben")
      assertTrue(shown.status === 422 || shown.status === 503, String(shown.status))
      yield* forgive
    })
  )
})
