import { Effect } from "effect"
import { Client } from "pg"

/** Brings forward every moment that apps wait for: what was to happen later is due now. */
export const hurry = (databaseUrl: string) =>
  Effect.promise(async () => {
    const client = new Client({ connectionString: databaseUrl })
    await client.connect()
    await client.query("UPDATE store_notifications SET due_at = now() WHERE due_at IS NOT NULL")
    await client.query("UPDATE subscriptions SET look_at = now() WHERE look_at IS NOT NULL")
    await client.query("UPDATE store_tokens SET acknowledge_due_at = now() WHERE acknowledge_due_at IS NOT NULL")
    await client.query("UPDATE store_catch_ups SET due_at = now() WHERE due_at IS NOT NULL")
    await client.end()
  })
