import { randomUUID } from "node:crypto"
import { Queue, Worker } from "bullmq"
import { DateTime, Option, type Redacted } from "effect"
import { Redis } from "ioredis"
import { Pool } from "pg"
import PgBoss from "pg-boss"
import { Agent, request } from "undici"
import { headersOf } from "../../src/webhook/Dispatch.ts"

/** What a sender is told: the raw body, and where it goes. */
export interface Job {
  readonly url: string
  readonly event: string
  readonly body: string
}

/**
 * Takes jobs, in batches that are kept when the promise is, and sends them with so many at a time. Like ours, it keeps the
 * events and a history of attempts.
 */
export interface Sender {
  readonly accept: (jobs: ReadonlyArray<Job>) => Promise<unknown>
  /** When the history has every attempt that was begun. */
  readonly settled: () => Promise<void>
  readonly close: () => Promise<void>
}

const posting = (secret: Redacted.Redacted<string>, concurrency: number) => {
  const agent = new Agent({ connections: concurrency })
  const post = async ({ body, event, url }: Job) => {
    const [eventId, id, startedAt] = [randomUUID(), randomUUID(), DateTime.unsafeNow()]
    const headers = headersOf({ secret, previousSecret: Option.none() }, { body, event, eventId }, { id, startedAt })
    const answer = await request(url, { method: "POST", headers, body, dispatcher: agent })
    await answer.body.dump()
    return answer.statusCode
  }
  return { post, close: () => agent.close() }
}

/** The event with its batch, the attempt with its end: one statement each, planned once. */
const keeping = async (databaseUrl: string) => {
  const pool = new Pool({ connectionString: databaseUrl, max: 20 })
  pool.on("error", () => undefined)
  await pool.query(`
    CREATE TABLE IF NOT EXISTS peer_events (id bigserial PRIMARY KEY, url text, event text, body text, created_at timestamptz DEFAULT now());
    CREATE TABLE IF NOT EXISTS peer_attempts (id bigserial PRIMARY KEY, url text, status int, error text, created_at timestamptz DEFAULT now())`)
  return {
    events: (jobs: ReadonlyArray<Job>) =>
      pool.query({
        name: "events",
        text: "INSERT INTO peer_events (url, event, body) SELECT * FROM unnest($1::text[], $2::text[], $3::text[])",
        values: [jobs.map(({ url }) => url), jobs.map(({ event }) => event), jobs.map(({ body }) => body)]
      }),
    attempt: (url: string, status: number) =>
      pool.query({
        name: "attempt",
        text: "INSERT INTO peer_attempts (url, status) VALUES ($1, $2)",
        values: [url, status]
      }),
    close: () => pool.end()
  }
}

/** Counts what was accepted and what is in the history. */
const counting = () => {
  let open = 0
  return {
    accepted: (count: number) => void (open += count),
    kept: () => void (open -= 1),
    settled: async () => {
      while (open > 0) await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
}

/** Nothing but signing and posting. */
export const bareSender = (secret: Redacted.Redacted<string>, concurrency: number) => {
  const { close, post } = posting(secret, concurrency)
  return {
    run: async (jobs: ReadonlyArray<Job>) => {
      let next = 0
      const lane = async () => {
        for (let job = jobs[next++]; job !== undefined; job = jobs[next++]) await post(job)
      }
      await Promise.all(Array.from({ length: concurrency }, lane))
    },
    close
  }
}

/** pg-boss, as its guide tunes it: jobs inserted and fetched in batches, several workers, retries with backoff. */
export const pgBossSender = async (
  databaseUrl: string,
  secret: Redacted.Redacted<string>,
  concurrency: number
): Promise<Sender> => {
  const boss = new PgBoss({ connectionString: databaseUrl, max: 20 })
  boss.on("error", () => undefined)
  await boss.start()
  await boss.createQueue("webhooks")
  const { close, post } = posting(secret, concurrency)
  const history = await keeping(databaseUrl)
  const { accepted, kept, settled } = counting()
  const send = async (job: Job) => {
    const status = await post(job)
    await history.attempt(job.url, status)
    kept()
    if (status >= 300) throw new Error(String(status))
  }
  const workers = 4
  for (let worker = 0; worker < workers; worker++) {
    await boss.work<Job>("webhooks", { batchSize: 250, pollingIntervalSeconds: 0.5 }, async (jobs) => {
      await Promise.all(jobs.map(({ data }) => send(data)))
    })
  }
  return {
    settled,
    accept: async (jobs) => {
      accepted(jobs.length)
      await history.events(jobs)
      await boss.insert(
        jobs.map((data) => ({ name: "webhooks", data, retryLimit: 5, retryDelay: 5, retryBackoff: true }))
      )
    },
    close: async () => {
      await boss.stop({ graceful: true, wait: true })
      await history.close()
      await close()
    }
  }
}

/** BullMQ, as its guide tunes it: bulk adding, one worker with concurrency, finished jobs removed. */
export const bullmqSender = async (
  databaseUrl: string,
  redisUrl: string,
  secret: Redacted.Redacted<string>,
  concurrency: number
): Promise<Sender> => {
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null })
  const name = `webhooks-${randomUUID()}`
  const queue = new Queue<Job>(name, { connection })
  const { close, post } = posting(secret, concurrency)
  const history = await keeping(databaseUrl)
  const { accepted, kept, settled } = counting()
  const send = async (job: Job) => {
    const status = await post(job)
    await history.attempt(job.url, status)
    kept()
    if (status >= 300) throw new Error(String(status))
  }
  const blocking = connection.duplicate()
  const worker = new Worker<Job>(name, ({ data }) => send(data), {
    connection: blocking,
    concurrency,
    removeOnComplete: { count: 0 }
  })
  await worker.waitUntilReady()
  const opts = { attempts: 6, backoff: { type: "exponential", delay: 5000 } }
  return {
    settled,
    accept: async (jobs) => {
      accepted(jobs.length)
      await history.events(jobs)
      await queue.addBulk(jobs.map((data) => ({ name: "delivery", data, opts })))
    },
    close: async () => {
      await worker.close()
      await queue.obliterate({ force: true })
      await queue.close()
      await Promise.all([connection.quit(), blocking.quit()])
      await history.close()
      await close()
    }
  }
}
