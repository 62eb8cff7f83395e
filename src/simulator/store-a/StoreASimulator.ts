import { HttpClient, HttpClientRequest, HttpRouter } from "@effect/platform"
import { Effect, Option } from "effect"
import { controlRouter, look } from "../Control.ts"
import { makeCourier } from "../Courier.ts"
import { makeAlarm, startMotor } from "../Motor.ts"
import { makeScript } from "../Script.ts"
import { bind } from "../SimulatorServer.ts"
import { makeStoreClock } from "../StoreClock.ts"
import { commonPresets, type Presets, storeControls } from "../StoreControls.ts"
import type { Scale } from "../Timescale.ts"
import { type Letter, makeBooks } from "./Books.ts"
import { purchaseRoutes } from "./ControlRoutes.ts"
import { makeKeys } from "./Keys.ts"
import { makeOcspRoutes } from "./OcspRoutes.ts"
import { serverRoutes } from "./ServerRoutes.ts"
import { makeAuthority } from "./SigningAuthority.ts"

export interface StoreASimulator {
  readonly url: string
  readonly rootPem: string
}

/** After a failed attempt; sandbox notifications are sent once. */
const pauses = ["PT1H", "PT12H", "PT24H", "PT48H", "PT72H"]

const presets: Presets = {
  ...commonPresets,
  rate_limited: (now) => ({
    status: 429,
    body: { errorCode: 4290000, errorMessage: "Rate limit exceeded." },
    headers: { "retry-after": String(now + 5_000) }
  }),
  unauthorized: () => ({ status: 401, raw: "Unauthenticated" }),
  server_error: () => ({ status: 500, body: { errorCode: 5000000, errorMessage: "An unknown error occurred." } }),
  server_error_retryable: () => ({
    status: 500,
    body: { errorCode: 5000001, errorMessage: "An unknown error occurred. Please try again." }
  }),
  not_yet_found: () => ({
    status: 404,
    body: { errorCode: 4040002, errorMessage: "Account not found. Please try again." }
  })
}

/**
 * Stands in for store A: an own signing authority, purchases that live by a clock of their own, notifications pushed to
 * `notificationUrl`, the Server API (sandbox under `/sandbox`), an OCSP responder, and a control API under `/_control` that `GET /` lists.
 */
export const start = Effect.fn("StoreASimulator.start")(function* (options: {
  readonly port: number
  readonly notificationUrl: Option.Option<string>
  readonly secondsPerMonth?: Scale
}) {
  const { serve, url } = yield* bind(options.port)
  const authority = yield* makeAuthority({ ocspUrl: `${url}/ocsp` })
  const client = yield* HttpClient.HttpClient
  const clock = yield* makeStoreClock(options.secondsPerMonth ?? null)
  const script = makeScript()
  const alarm = yield* makeAlarm
  const courier = yield* makeCourier<Letter>(clock, alarm, {
    idOf: ({ notificationUUID }) => notificationUUID,
    post: ({ signedPayload, url }) =>
      url === undefined
        ? Effect.succeed({ status: 0, body: "no address" })
        : HttpClientRequest.post(url).pipe(
            HttpClientRequest.bodyUnsafeJson({ signedPayload }),
            client.execute,
            Effect.flatMap((response) =>
              Effect.map(response.text, (text) => ({ status: response.status, body: text }))
            ),
            Effect.timeout("10 seconds"),
            Effect.catchAll(() => Effect.succeed({ status: 0, body: "no answer" }))
          ),
    isTaken: (status) => status >= 200 && status <= 206,
    pause: ({ environment, url }, attempts) =>
      environment === "Sandbox" || url === undefined ? undefined : pauses[attempts - 1]
  })
  const books = yield* makeBooks({ clock, authority, courier, notificationUrl: options.notificationUrl })
  yield* startMotor(clock, alarm, [books.work, courier.work])
  const keys = makeKeys()
  const ocsp = makeOcspRoutes(authority)
  const common = storeControls<Letter>({
    clock,
    courier,
    script,
    presets,
    usual: { path: "/inApps/", ...presets["server_error"]?.(0) },
    wake: alarm.wake,
    sent: () => books.letters,
    idOf: ({ notificationUUID }) => notificationUUID,
    resent: (notification, receiver) => ({ notification, receiver })
  })
  const root = look("GET", "/root.pem", "The certificate to trust: STORE_A_ROOT_CERTIFICATES", () =>
    Effect.succeed({ pem: authority.rootPem })
  )
  const control = controlRouter(
    "store A",
    Effect.map(clock.view, (view) => ({ clock: view, presets: Object.keys(presets) })),
    [...purchaseRoutes(books, alarm.wake), ...keys.routes, ...ocsp.routes, ...common, root]
  )
  const parts = { authority, books, courier, keys }
  const serverApi = HttpRouter.concat(
    serverRoutes("Production", parts),
    HttpRouter.prefixAll(serverRoutes("Sandbox", parts), "/sandbox")
  )
  yield* serve(script.apply(HttpRouter.concatAll(control, ocsp.responder, serverApi)))
  return { url, rootPem: authority.rootPem } satisfies StoreASimulator
})
