import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Memberships get ids that sort by the time at which they began: version 7 made from the stored time. */
export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    ALTER TABLE memberships ADD COLUMN id uuid;
    UPDATE memberships SET id = encode(
      set_bit(set_bit(
        overlay(uuid_send(gen_random_uuid())
          PLACING substring(int8send((extract(epoch FROM created_at) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
        52, 1), 53, 1),
      'hex')::uuid;
    ALTER TABLE memberships ALTER COLUMN id SET NOT NULL;
    DROP INDEX memberships_user;
    CREATE UNIQUE INDEX memberships_user ON memberships (user_id, id);
    CREATE UNIQUE INDEX memberships_tenant ON memberships (tenant_id, id DESC);

    ALTER TABLE access_tokens ADD COLUMN last_used_at timestamptz;
  `
)
