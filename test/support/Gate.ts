import { Effect } from "effect"
import { Client } from "pg"

const lock = 424_242

/**
 * Stops the program inside a database step: the statement that matches waits until the gate is opened, so a test can end
 * the program exactly there, before the step's commit and after that of the one before.
 */
export const closeGate = Effect.fn(function* (
  databaseUrl: string,
  step: { readonly table: string; readonly on: "INSERT" | "UPDATE"; readonly when?: string }
) {
  const client = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const connection = new Client({ connectionString: databaseUrl })
      connection.on("error", () => undefined)
      await connection.connect()
      return connection
    }),
    (connection) => Effect.promise(() => connection.end())
  )
  const query = (text: string) => Effect.promise(() => client.query(text))
  const when = step.when === undefined ? "" : `WHEN (${step.when})`
  yield* query(`
    CREATE OR REPLACE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock(${lock}); RETURN NEW; END $$;
    CREATE TRIGGER gate BEFORE ${step.on} ON ${step.table} FOR EACH ROW ${when} EXECUTE FUNCTION gate();
    SELECT pg_advisory_lock(${lock})`)
  const waiting = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = ${lock} AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
  return {
    /** How many statements stand before the gate. */
    waiting: Effect.map(query(waiting), ({ rows }) => rows.length),
    /** Rolls back what stands before the gate and takes the gate away. */
    open: Effect.zipRight(
      query(`SELECT pg_terminate_backend(pid) FROM (${waiting}) AS w; SELECT pg_advisory_unlock(${lock})`),
      query(`DROP TRIGGER gate ON ${step.table}`)
    )
  }
})
