import { Effect } from "effect"

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: any
}

/** One real HTTP call; the body is parsed when it is JSON and text otherwise. */
export const call = (
  method: string,
  url: string,
  options: {
    readonly token?: string | undefined
    readonly body?: unknown
    readonly headers?: Record<string, string>
    readonly raw?: string
  } = {}
): Effect.Effect<Answer> =>
  Effect.promise(async () => {
    const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body))
    const response = await fetch(url, {
      method,
      redirect: "manual",
      headers: {
        ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...options.headers
      },
      ...(body === undefined ? {} : { body })
    })
    const text = await response.text()
    const isJson = response.headers.get("content-type")?.includes("json") === true
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
  })
