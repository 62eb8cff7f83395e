import { randomUUID, verify, X509Certificate } from "node:crypto"
import { createServer } from "node:http"
import { Pool } from "pg"

const keys = new Map<string, X509Certificate["publicKey"]>()

/** Nothing but the signature check of a compact JWS, with the key of its leaf remembered. */
export const checked = (jws: string): string => {
  const [header = "", payload = "", signature = ""] = jws.split(".")
  let key = keys.get(header)
  if (key === undefined) {
    const { x5c } = JSON.parse(Buffer.from(header, "base64url").toString())
    key = new X509Certificate(Buffer.from(x5c[0], "base64")).publicKey
    keys.set(header, key)
  }
  const text = Buffer.from(`${header}.${payload}`)
  if (!verify("sha256", text, { key, dsaEncoding: "ieee-p1363" }, Buffer.from(signature, "base64url"))) {
    throw new Error("a wrong signature")
  }
  return Buffer.from(payload, "base64url").toString()
}

const statements = [
  `INSERT INTO store_notifications (id, app_id, store, notification_id, type, subtype, environment, state, payload,
    signed_at, received_at) VALUES ($1, $2, 'store_a', $3, $4, $5, 'production', 'applied', $6, $7, now())
    ON CONFLICT (app_id, store, notification_id) DO NOTHING`,
  `INSERT INTO customers (id, app_id, app_user_id, is_anonymous, first_seen, last_seen)
    VALUES ($1, $2, $3, false, now(), now()) ON CONFLICT (app_id, app_user_id) DO NOTHING`,
  `INSERT INTO subscriptions (id, app_id, customer_id, store, environment, original_transaction_id, product_identifier,
    status, expires_date, state, created_at, updated_at)
    VALUES ($1, $2, $3, 'store_a', 'production', $4, $5, 'active', $6, $7, now(), now())`,
  `INSERT INTO store_facts (subscription_id, fact_id, signed_at, fact) VALUES ($1, $2, $3, $4)`,
  `INSERT INTO transactions (id, app_id, customer_id, subscription_id, store, environment, store_transaction_id,
    original_transaction_id, product_identifier, period_type, ownership_type, purchase_date, expires_date, price_micros,
    currency, covered_until, created_at)
    VALUES ($1, $2, $3, $4, 'store_a', 'production', $5, $5, $6, 'normal', 'purchased', $7, $8, $9, $10, $8, now())`,
  `INSERT INTO domain_events (id, app_id, type, cause, app_user_id, store, environment, subscription_id, data, created_at)
    VALUES ($1, $2, 'customer.created', $3, $4, NULL, NULL, NULL, $5, now()),
      ($6, $2, 'subscription.started', $7, $4, 'store_a', 'production', $8, $9, now())`
].map((text, nth) => ({ name: `bare_${nth}`, text }))

/** The naive way to take a purchase: three signatures, the same rows in one transaction, one statement for each table. */
export const notificationServer = (databaseUrl: string, appId: string) => {
  const pool = new Pool({ connectionString: databaseUrl, max: 20 })
  const accept = async (body: string) => {
    const { signedPayload } = JSON.parse(body)
    const outer = JSON.parse(checked(signedPayload))
    const bought = JSON.parse(checked(outer.data.signedTransactionInfo))
    const renewal = JSON.parse(checked(outer.data.signedRenewalInfo))
    const [notification, customer, subscription, transaction] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
    const [purchased, expires, signed] = [bought.purchaseDate, bought.expiresDate, outer.signedDate].map(
      (at) => new Date(at)
    )
    const fact = JSON.stringify({ outer, bought, renewal, signedPayload: undefined })
    const { originalTransactionId, productId } = bought
    const values = [
      [notification, appId, outer.notificationUUID, outer.notificationType, outer.subtype, signedPayload, signed],
      [customer, appId, bought.appAccountToken],
      [
        subscription,
        appId,
        customer,
        originalTransactionId,
        productId,
        expires,
        JSON.stringify({ ...bought, ...renewal })
      ],
      [subscription, outer.notificationUUID, signed, fact],
      [
        transaction,
        appId,
        customer,
        subscription,
        originalTransactionId,
        productId,
        purchased,
        expires,
        bought.price * 1000,
        bought.currency
      ],
      [
        ...[randomUUID(), appId, `customer.created:${customer}`, bought.appAccountToken, JSON.stringify({ customer })],
        ...[randomUUID(), `${subscription}:started`, subscription, JSON.stringify({ ...bought, ...renewal })]
      ]
    ]
    const client = await pool.connect()
    try {
      await client.query("BEGIN")
      for (const [nth, statement] of statements.entries())
        await client.query({ ...statement, values: values[nth] ?? [] })
      await client.query("COMMIT")
    } finally {
      client.release()
    }
  }
  const server = createServer((incoming, response) => {
    const chunks: Array<Buffer> = []
    incoming
      .on("data", (chunk: Buffer) => chunks.push(chunk))
      .on("end", () => {
        accept(Buffer.concat(chunks).toString()).then(
          () => response.setHeader("content-type", "application/json").end('{"data":{"status":"accepted"}}'),
          () => response.writeHead(500).end()
        )
      })
  })
  return { pool, server }
}
