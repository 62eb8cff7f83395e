import { createServer } from "node:http"
import { Pool } from "pg"

/** The naive way to serve a subscriber: node:http and the same prepared SELECT through pg. */
export const subscriberServer = (databaseUrl: string, statement: { readonly name: string; readonly text: string }) => {
  const pool = new Pool({ connectionString: databaseUrl, max: 20 })
  const server = createServer((incoming, response) => {
    const key = incoming.headers.authorization?.slice("Bearer ".length)
    const appUserId = incoming.url?.split("/").at(-1)
    pool.query({ ...statement, values: [key, appUserId] }, (error, result) => {
      response.setHeader("content-type", "application/json")
      response.end(error ? "{}" : JSON.stringify({ subscriber: result.rows[0] }))
    })
  })
  return { pool, server }
}
