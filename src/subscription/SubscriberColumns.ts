const isoText = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const unlockedBy = (purchase: string) => `
  coalesce((
    SELECT jsonb_agg(entitlements.identifier)
    FROM products
    JOIN entitlement_products ON entitlement_products.product_id = products.id
    JOIN entitlements ON entitlements.id = entitlement_products.entitlement_id
    WHERE products.app_id = ${purchase}.app_id AND products.store = ${purchase}.store
      AND products.identifier = ${purchase}.product_identifier
  ), '[]')`

/**
 * `Holdings` of the row of `customers` that a statement stands on, as columns of that statement: what the one hot read
 * and the list of customers share. Times inside are ISO 8601 UTC text with milliseconds.
 */
export const holdingsColumns = `
  coalesce((
    SELECT jsonb_agg(jsonb_build_object('id', owned.id, 'subscription', owned.state, 'unlocks', ${unlockedBy("owned")}))
    FROM subscriptions owned WHERE owned.customer_id = customers.id
  ), '[]') AS subscriptions,
  coalesce((
    SELECT jsonb_agg(jsonb_build_object('id', bought.id, 'store', bought.store, 'environment', bought.environment,
      'productIdentifier', bought.product_identifier, 'storeTransactionId', bought.store_transaction_id,
      'originalTransactionId', bought.original_transaction_id, 'purchaseDate', ${isoText("bought.purchase_date")},
      'expiresDate', ${isoText("bought.expires_date")}, 'refundedAt', ${isoText("bought.refunded_at")},
      'priceMicros', bought.price_micros, 'currency', bought.currency,
      'unlocks', ${unlockedBy("bought")}) ORDER BY bought.purchase_date, bought.id)
    FROM transactions bought WHERE bought.customer_id = customers.id AND bought.subscription_id IS NULL
  ), '[]') AS purchases,
  coalesce((
    SELECT jsonb_agg(jsonb_build_object('id', grants.id, 'entitlementIdentifier', entitlements.identifier,
      'grantedAt', ${isoText("grants.granted_at")}, 'expiresDate', ${isoText("grants.expires_date")},
      'revokedAt', ${isoText("grants.revoked_at")}))
    FROM grants JOIN entitlements ON entitlements.id = grants.entitlement_id
    WHERE grants.customer_id = customers.id
  ), '[]') AS grants`

/** The names that were merged into the row of `customers`, oldest first. */
export const aliasesColumn = `
  coalesce((
    SELECT jsonb_agg(kin.app_user_id ORDER BY kin.first_seen, kin.id) FROM customers kin
    WHERE kin.merged_into = customers.id
  ), '[]') AS aliases`
