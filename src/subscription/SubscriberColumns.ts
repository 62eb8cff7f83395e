const isoText = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/**
 * `Held` of the row of `customers` that a statement stands on: what the one hot read and the list of customers share. One
 * list of all kinds, whose order means nothing, costs a phone that holds nothing half of what one column a kind would:
 * the tables of entitlements are opened once. Times inside are ISO 8601 UTC text with milliseconds.
 */
export const heldColumn = `
  coalesce((
    SELECT jsonb_agg(jsonb_build_object('kind', held.kind, 'item', held.item, 'unlocks', (
      SELECT coalesce(jsonb_agg(entitlements.identifier), '[]') FROM entitlements WHERE entitlements.id = ANY (
        CASE WHEN held.entitlement_id IS NULL THEN array(
          SELECT entitlement_products.entitlement_id FROM products
          JOIN entitlement_products ON entitlement_products.product_id = products.id
          WHERE products.app_id = held.app_id AND products.store = held.store
            AND products.identifier = held.product_identifier
        ) ELSE ARRAY[held.entitlement_id] END)
    ))) FROM (
      SELECT 'subscription' AS kind, app_id, store, product_identifier, NULL::uuid AS entitlement_id,
        jsonb_build_object('id', id, 'subscription', state) AS item
      FROM subscriptions WHERE subscriptions.customer_id = customers.id
      UNION ALL
      SELECT 'purchase', app_id, store, product_identifier, NULL,
        jsonb_build_object('id', id, 'store', store, 'environment', environment,
          'productIdentifier', product_identifier, 'storeTransactionId', store_transaction_id,
          'originalTransactionId', original_transaction_id, 'purchaseDate', ${isoText("purchase_date")},
          'expiresDate', ${isoText("expires_date")}, 'refundedAt', ${isoText("refunded_at")},
          'priceMicros', price_micros, 'currency', currency)
      FROM transactions WHERE transactions.customer_id = customers.id AND transactions.subscription_id IS NULL
      UNION ALL
      SELECT 'grant', NULL, NULL, NULL, entitlement_id,
        jsonb_build_object('id', id, 'grantedAt', ${isoText("granted_at")}, 'expiresDate', ${isoText("expires_date")},
          'revokedAt', ${isoText("revoked_at")})
      FROM grants WHERE grants.customer_id = customers.id
      UNION ALL
      SELECT 'alias', NULL, NULL, NULL, NULL,
        jsonb_build_object('appUserId', kin.app_user_id, 'firstSeen', ${isoText("kin.first_seen")})
      FROM customers kin WHERE kin.merged_into = customers.id
    ) held
  ), '[]') AS held`
