import { HttpRouter } from "@effect/platform"
import { Effect, type Option } from "effect"
import { controlRouter, look } from "../Control.ts"
import { makeCourier } from "../Courier.ts"
import { makeAlarm, startMotor } from "../Motor.ts"
import { makeScript } from "../Script.ts"
import { listen } from "../SimulatorServer.ts"
import { makeStoreClock } from "../StoreClock.ts"
import { commonPresets, type Presets, storeControls } from "../StoreControls.ts"
import { after, type Scale } from "../Timescale.ts"
import { makeAccounts } from "./Accounts.ts"
import { makeBooks } from "./Books.ts"
import { purchaseRoutes } from "./ControlRoutes.ts"
import { problemBody, publisherRoutes } from "./PublisherRoutes.ts"
import { makePushSender, type Push } from "./PushSender.ts"

export interface StoreBSimulator {
  readonly url: string
  readonly pushKeysUrl: string
}

/** The answers that end the redelivery of a push; every other one asks for it again. */
const taken = [102, 200, 201, 202, 204]
const firstPause = 10
const longestPause = 600
const retention = "P7D"

const presets: Presets = {
  ...commonPresets,
  rate_limited: () => ({ status: 429, body: problemBody(429, "rateLimitExceeded"), headers: { "retry-after": "5" } }),
  unauthorized: () => ({ status: 401, body: problemBody(401, "authError") }),
  forbidden: () => ({ status: 403, body: problemBody(403, "insufficientPermissions") }),
  conflict: () => ({ status: 409, body: problemBody(409, "concurrentUpdate") }),
  gone: () => ({ status: 410, body: problemBody(410, "purchaseTokenNoLongerValid") }),
  server_error: () => ({ status: 500, body: problemBody(500, "backendError") }),
  token_endpoint_down: () => ({ path: "/token", status: 503, raw: "Service Unavailable", times: null }),
  token_refused: () => ({ path: "/token", status: 400, body: { error: "invalid_grant" } })
}

/**
 * Stands in for store B: a token endpoint that verifies assertions, purchases that live by a clock of their own, the
 * Publisher API, pushes with signed tokens and the keys to verify them, and a control API under `/_control` that `GET /`
 * lists.
 */
export const start = Effect.fn("StoreBSimulator.start")(function* (options: {
  readonly port: number
  readonly notificationUrl: Option.Option<string>
  readonly secondsPerMonth?: Scale
}) {
  let address = ""
  const clock = yield* makeStoreClock(options.secondsPerMonth ?? null)
  const script = makeScript()
  const accounts = yield* makeAccounts(() => `${address}/token`)
  const { jwks, post } = yield* makePushSender({ email: accounts.email })
  const alarm = yield* makeAlarm
  const courier = yield* makeCourier<Push>(clock, alarm, {
    idOf: ({ messageId }) => messageId,
    post,
    isTaken: (status) => taken.includes(status),
    pause: ({ url }, attempts, firstAt, now) =>
      url === undefined || now > after(firstAt, retention, clock.scale())
        ? undefined
        : `PT${Math.min(longestPause, firstPause * 2 ** (attempts - 1))}S`
  })
  const books = yield* makeBooks({ clock, courier, notificationUrl: options.notificationUrl })
  yield* startMotor(clock, alarm, [books.work, courier.work])
  const common = storeControls<Push>({
    clock,
    courier,
    script,
    presets,
    usual: { path: "/androidpublisher/", ...presets["server_error"]?.(0) },
    wake: alarm.wake,
    sent: () => books.pushes,
    idOf: ({ messageId }) => messageId,
    resent: (push, receiver) => ({ push, receiver })
  })
  const account = look("GET", "/service-account", "The account to store as a credential", () =>
    Effect.sync(accounts.file)
  )
  const control = controlRouter(
    "store B",
    Effect.map(clock.view, (view) => ({ clock: view, presets: Object.keys(presets) })),
    [...purchaseRoutes(books, alarm.wake), ...common, account]
  )
  const publisher = publisherRoutes({ accounts, books, clock, jwks })
  const { url } = yield* listen(script.apply(HttpRouter.concat(control, publisher)), options.port)
  address = url
  return { url, pushKeysUrl: `${url}/oauth2/v3/certs` } satisfies StoreBSimulator
})
