import { Effect } from "effect"
import { Agent, request } from "undici"

/** Of an answer no more is read than this, in bytes; the connection is dropped there. */
const bodyLimit = 1024 * 1024

export interface Received {
  readonly status: number
  readonly text: string
  readonly isWhole: boolean
  readonly retryAfter: string | undefined
}

/** Why a call was not answered: its URL is none, nobody is there, or the answer broke off. */
export type Unanswered = "no URL" | "no answer" | "broken off"

const first = (header: string | ReadonlyArray<string> | undefined) =>
  typeof header === "string" ? header : header?.[0]

/** Posts to a provider, on connections that are kept. How long to wait is the caller's to say. */
export const makeTransport = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => new Agent({ headersTimeout: 0, bodyTimeout: 0 })),
    (opened) => Effect.promise(() => opened.destroy())
  ),
  (agent) =>
    (url: string, headers: Readonly<Record<string, string>>, body: string): Effect.Effect<Received, Unanswered> =>
      Effect.suspend(() => {
        if (!URL.canParse(url)) return Effect.fail("no URL")
        let failure: Unanswered = "no answer"
        return Effect.tryPromise({
          try: async (signal) => {
            const answer = await request(url, { method: "POST", headers, body, dispatcher: agent, signal })
            failure = "broken off"
            const chunks: Array<Buffer> = []
            let size = 0
            for await (const chunk of answer.body) {
              chunks.push(chunk)
              size += chunk.length
              if (size > bodyLimit) break
            }
            return {
              status: answer.statusCode,
              text: Buffer.concat(chunks).toString("utf8", 0, bodyLimit),
              isWhole: size <= bodyLimit,
              retryAfter: first(answer.headers["retry-after"])
            }
          },
          catch: () => failure
        })
      })
)
