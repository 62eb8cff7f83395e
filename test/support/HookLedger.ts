import { createServer, type IncomingHttpHeaders } from "node:http"
import { Effect } from "effect"

export interface Delivered {
  readonly event: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly data: { readonly event: string; readonly data: { readonly [key: string]: unknown } }
}

/** A subscriber of webhooks with a ledger of every request; `script` decides the status of the next ones. */
export const start = Effect.acquireRelease(
  Effect.async<{
    readonly url: string
    readonly ledger: Array<Delivered>
    readonly script: Array<number>
    readonly close: () => void
  }>((resume) => {
    const ledger: Array<Delivered> = []
    const script: Array<number> = []
    const server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const body = Buffer.concat(chunks).toString("utf8")
        ledger.push({
          event: String(request.headers["x-webhook-event"]),
          headers: request.headers,
          body,
          data: JSON.parse(body)
        })
        response.writeHead(script.shift() ?? 200).end("ok")
      })
    })
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const close = () => {
        server.close()
        server.closeAllConnections()
      }
      resume(Effect.succeed({ url: `http://127.0.0.1:${port}/hook`, ledger, script, close }))
    })
  }),
  ({ close }) => Effect.sync(close)
)
