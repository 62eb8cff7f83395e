const utc = (column: string) => `${column} AT TIME ZONE 'UTC'`
const text = (moment: string) => `to_char(${moment}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
const isoText = (column: string) => text(utc(column))

/** What does not renew lasts as long as the catalogue says, where the store does not: stores know no end of such passes. */
const purchaseEnd = `coalesce(${utc("expires_date")}, ${utc("purchase_date")} + (
  SELECT subscription_period::interval FROM products WHERE products.app_id = transactions.app_id
    AND products.store = transactions.store AND products.identifier = transactions.product_identifier
    AND products.type = 'non_renewing_subscription'))`

/**
 * `Held` of the row of `customers` that a statement stands on: what the one hot read and the list of customers share. One
 * list of all kinds, whose order means nothing, costs a phone that holds nothing half of what one column a kind would:
 * the catalogue is opened once. Times inside are ISO 8601 UTC text with milliseconds. Which of the products was meant is
 * for `soldAs` to say: here are all that may be.
 */
export const heldColumn = `
  coalesce((
    SELECT jsonb_agg(jsonb_build_object('kind', held.kind, 'item', held.item, 'products', (
      SELECT coalesce(jsonb_agg(jsonb_build_object('identifier', products.identifier, 'unlocks', array(
        SELECT entitlements.identifier FROM entitlement_products
        JOIN entitlements ON entitlements.id = entitlement_products.entitlement_id
        WHERE entitlement_products.product_id = products.id
      ))), '[]') FROM products
      WHERE products.app_id = held.app_id AND products.store = held.store
        AND products.identifier IN (held.product_identifier, split_part(held.product_identifier, ':', 1))
    ))) FROM (
      SELECT 'subscription' AS kind, app_id, store, product_identifier,
        jsonb_build_object('id', id, 'subscription', state) AS item
      FROM subscriptions WHERE subscriptions.customer_id = customers.id
      UNION ALL
      SELECT 'purchase', app_id, store, product_identifier,
        jsonb_build_object('id', id, 'store', store, 'environment', environment,
          'productIdentifier', product_identifier, 'storeTransactionId', store_transaction_id,
          'originalTransactionId', original_transaction_id, 'purchaseDate', ${isoText("purchase_date")},
          'expiresDate', ${text(purchaseEnd)}, 'refundedAt', ${isoText("refunded_at")},
          'priceMicros', price_micros, 'currency', currency)
      FROM transactions WHERE transactions.customer_id = customers.id AND transactions.subscription_id IS NULL
      UNION ALL
      SELECT 'grant', NULL, NULL, NULL,
        jsonb_build_object('id', grants.id, 'grantedAt', ${isoText("granted_at")},
          'expiresDate', ${isoText("expires_date")}, 'revokedAt', ${isoText("revoked_at")},
          'entitlementIdentifier', entitlements.identifier)
      FROM grants JOIN entitlements ON entitlements.id = grants.entitlement_id
      WHERE grants.customer_id = customers.id
      UNION ALL
      SELECT 'alias', NULL, NULL, NULL,
        jsonb_build_object('appUserId', kin.app_user_id, 'firstSeen', ${isoText("kin.first_seen")})
      FROM customers kin WHERE kin.merged_into = customers.id
    ) held
  ), '[]') AS held`
