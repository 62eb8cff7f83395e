import { Agent, request } from "undici"

/** Requests per second of `lanes` callers that ask again as soon as they have their answer. */
export const requestsPerSecond = async (url: string, token: string, options: { lanes: number; seconds: number }) => {
  const agent = new Agent({ connections: options.lanes })
  const until = performance.now() + options.seconds * 1000
  let count = 0
  const lane = async () => {
    while (performance.now() < until) {
      const answer = await request(url, { dispatcher: agent, headers: { authorization: `Bearer ${token}` } })
      await answer.body.dump()
      if (answer.statusCode === 200) count += 1
    }
  }
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: options.lanes }, lane))
  await agent.close()
  return count / ((performance.now() - startedAt) / 1000)
}
