import { Effect } from "effect"
import { Client } from "pg"

export const query = (databaseUrl: string, statement: string) =>
  Effect.promise(async () => {
    const client = new Client({ connectionString: databaseUrl })
    await client.connect()
    const { rows } = await client.query(statement)
    await client.end()
    return rows
  })

const columns = `SELECT table_name, column_name FROM information_schema.columns
  WHERE table_schema = 'public' AND data_type IN ('text', 'jsonb', 'json', 'character varying', 'bytea', 'ARRAY')`

/** Where in the database one of these words stands. */
export const placesOf = (databaseUrl: string, words: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const all = yield* query(databaseUrl, columns)
    const asked = all.map(
      ({ column_name, table_name }) =>
        `SELECT '${table_name}.${column_name}' AS place, count(*)::int AS times FROM "${table_name}"
         WHERE ${words.map((word) => `"${column_name}"::text LIKE '%${word}%'`).join(" OR ")}`
    )
    const found = yield* query(databaseUrl, asked.join(" UNION ALL "))
    return found.filter(({ times }) => times > 0).map(({ place }) => place)
  })
