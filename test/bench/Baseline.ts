import { createHmac } from "node:crypto"
import { createServer } from "node:http"
import { Pool } from "pg"
import { Agent, request } from "undici"

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

/** The naive way to deliver webhooks: a loop that signs and posts, `lanes` at a time, with no memory of anything. */
export const postAll = async (url: string, secret: string, bodies: ReadonlyArray<string>, lanes: number) => {
  const agent = new Agent({ connections: lanes })
  let next = 0
  const lane = async () => {
    for (let index = next++; index < bodies.length; index = next++) {
      const body = bodies[index] ?? ""
      const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`
      const answer = await request(url, {
        method: "POST",
        dispatcher: agent,
        body,
        headers: { "content-type": "application/json", "x-webhook-signature": signature }
      })
      await answer.body.dump()
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  await agent.close()
}
