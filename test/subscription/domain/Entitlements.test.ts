import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { FastCheck } from "effect"
import { isActiveAt } from "../../../src/subscription/domain/Access.ts"
import {
  endOf,
  entitlementsOf,
  givesAccessAt,
  type Holdings,
  type OwnedGrant
} from "../../../src/subscription/domain/Entitlements.ts"
import { GrantId } from "../../../src/subscription/domain/Grant.ts"
import { subscriberOf } from "../../../src/subscription/domain/SubscriberView.ts"
import { holdings, moment } from "../../support/Holdings.ts"

const nothing: Holdings = { subscriptions: [], purchases: [], grants: [] }
const never = "9999-12-31T00:00:00.000Z"

/** Every end of access to `identifier` that is still to come, told without the code under test. */
const comingEnds = ({ grants, purchases, subscriptions }: Holdings, identifier: string, now: string) => {
  const first = (...ends: ReadonlyArray<string | null>) =>
    ends.reduce<string>((end, other) => (other !== null && other < end ? other : end), never)
  return [
    ...subscriptions
      .filter(({ subscription, unlocks }) => unlocks.includes(identifier) && isActiveAt(subscription, now))
      .map(({ subscription: { expiresDate, gracePeriodExpiresDate, status } }) =>
        String(status === "in_grace_period" ? (gracePeriodExpiresDate ?? expiresDate) : expiresDate)
      ),
    ...purchases
      .filter(({ unlocks }) => unlocks.includes(identifier))
      .map(({ expiresDate, refundedAt }) => first(expiresDate, refundedAt)),
    ...grants
      .filter(({ entitlementIdentifier }) => entitlementIdentifier === identifier)
      .map(({ expiresDate, revokedAt }) => first(expiresDate, revokedAt))
  ].filter((end) => end > now)
}

describe("Entitlements", () => {
  it.prop(
    "active exactly while one source gives access, and by the one that lasts longest",
    [holdings, moment],
    ([held, now]) => {
      const found = entitlementsOf(held, now)
      for (const identifier of ["pro", "gold"]) {
        const source = found.get(identifier)
        const ends = comingEnds(held, identifier, now)
        assert.strictEqual(source !== undefined && givesAccessAt(source, now), ends.length > 0)
        if (source === undefined || ends.length === 0) continue
        assert.strictEqual(
          endOf(source) ?? never,
          ends.reduce((last, end) => (end > last ? end : last))
        )
      }
    }
  )

  it.prop("whatever once was is listed", [holdings, moment], ([held, now]) => {
    const named = [
      ...held.subscriptions.flatMap(({ unlocks }) => unlocks),
      ...held.purchases.flatMap(({ unlocks }) => unlocks),
      ...held.grants.map(({ entitlementIdentifier }) => entitlementIdentifier)
    ]
    assert.sameMembers([...entitlementsOf(held, now).keys()], [...new Set(named)])
  })

  it.prop("the order in which sources come changes no end", [holdings, moment], ([held, now]) => {
    const turned: Holdings = {
      subscriptions: [...held.subscriptions].reverse(),
      purchases: [...held.purchases].reverse(),
      grants: [...held.grants].reverse()
    }
    for (const [identifier, source] of entitlementsOf(held, now)) {
      const other = entitlementsOf(turned, now).get(identifier)
      assert.strictEqual(other === undefined ? "none" : endOf(other), endOf(source))
    }
  })

  it.prop(
    "a grant more never ends anyone's access earlier",
    [holdings, moment, FastCheck.option(moment)],
    ([held, now, end]) => {
      const more: OwnedGrant = {
        id: GrantId.make("01a1fd14-94fa-7000-8000-00c4e62d5153"),
        entitlementIdentifier: "pro",
        grantedAt: now,
        expiresDate: end,
        revokedAt: null
      }
      const before = entitlementsOf(held, now).get("pro")
      const after = entitlementsOf({ ...held, grants: [...held.grants, more] }, now).get("pro")
      if (before === undefined || !givesAccessAt(before, now)) return
      assert.isTrue(after !== undefined && (endOf(after) ?? never) >= (endOf(before) ?? never))
    }
  )

  it("shows a grant as a promotion of no product and no renewal, ended when it was revoked", () => {
    const grant: OwnedGrant = {
      id: GrantId.make("01a1fd14-94fa-7000-8000-00c4e62d5153"),
      entitlementIdentifier: "pro",
      grantedAt: "2026-01-01T00:00:00.000Z",
      expiresDate: null,
      revokedAt: "2026-02-01T00:00:00.000Z"
    }
    const customer = {
      appUserId: "ann",
      originalAppUserId: "$anonymous:1",
      isAnonymous: false,
      firstSeen: "2026-01-01T00:00:00.000Z",
      lastSeen: "2026-01-01T00:00:00.000Z",
      aliases: ["$anonymous:1"]
    }
    const view = (now: string) => subscriberOf(customer, { ...nothing, grants: [grant] }, now)
    assert.strictEqual(view("2026-01-31T23:59:59.999Z").entitlements["pro"]?.is_active, true)
    deepStrictEqual(view("2026-02-01T00:00:00.000Z"), {
      app_user_id: "ann",
      original_app_user_id: "$anonymous:1",
      is_anonymous: false,
      first_seen: "2026-01-01T00:00:00.000Z",
      last_seen: "2026-01-01T00:00:00.000Z",
      management_url: null,
      entitlements: {
        pro: {
          is_active: false,
          product_identifier: null,
          store: "custom",
          purchase_date: "2026-01-01T00:00:00.000Z",
          original_purchase_date: "2026-01-01T00:00:00.000Z",
          expires_date: "2026-02-01T00:00:00.000Z",
          grace_period_expires_date: null,
          will_renew: false,
          period_type: "promotional",
          source: "grant",
          environment: "production"
        }
      },
      subscriptions: {},
      non_subscriptions: Object.create(null),
      aliases: ["$anonymous:1"]
    })
  })
})
