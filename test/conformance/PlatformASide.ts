import { Chunk, Effect, Layer, Option, Redacted } from "effect"
import type { PlatformEvent } from "../../src/platform/domain/PlatformEvent.ts"
import { PlatformA, PlatformFailure } from "../../src/platform/Platform.ts"
import { connect, linked, makeSide, nextEvent } from "../platform/platform-a/LinkedPhone.ts"
import { until } from "../support/Until.ts"
import type { Line, PlatformSide } from "./EveryPlatform.ts"

const shop = "491700000001"

const unavailable = () =>
  new PlatformFailure({ reason: "unavailable", detail: "no connection", retryAfter: Option.none() })

/** The driver of platform_a with its simulator. */
export const platformASide = Effect.gen(function* () {
  const side = yield* makeSide
  const look = (path: string) => Effect.map(side.control("GET", path), ({ body }) => body)
  const tell = (path: string, body: unknown) => Effect.asVoid(side.control("POST", path, body))
  const anew = <A, E, R>(part: Effect.Effect<A, E, R | PlatformA>) => Effect.provide(part, Layer.fresh(side.driver))
  let isLinked = false

  const open: PlatformSide["open"] = Effect.gen(function* () {
    const connection = yield* isLinked ? connect("one") : linked(side, "one", shop)
    const told: Array<PlatformEvent> = []
    yield* connection.events.takeAll.pipe(
      Effect.tap(([events]) => {
        told.push(...Chunk.toReadonlyArray(events))
        return connection.stored(Chunk.size(events))
      }),
      Effect.repeat({ until: ([, isDone]) => isDone }),
      Effect.forkScoped
    )
    if (isLinked)
      yield* until(
        Effect.sync(() => told.some(({ _tag }) => _tag === "Connected")),
        (isOpen) => isOpen
      )
    isLinked = true
    return {
      send: connection.send,
      findSent: () => Effect.succeedNone,
      told: Effect.sync(() => [...told]),
      typing: connection.typing
    } satisfies Line
  }).pipe(anew, Effect.mapError(unavailable))

  const login = (channelId: string, phone: string, phoneNumber: Option.Option<string>) =>
    Effect.gen(function* () {
      const first = yield* Effect.scoped(
        Effect.gen(function* () {
          const connection = yield* connect(channelId, phoneNumber)
          const shown = yield* nextEvent(connection, Option.isSome(phoneNumber) ? "PairingCodeShown" : "QrShown")
          yield* shown._tag === "QrShown"
            ? tell("/scan", { qr: Redacted.value(shown.qr), phone })
            : tell("/pairing-code", { code: Redacted.value(shown.code) })
          return [shown._tag, (yield* nextEvent(connection, "Closed")).end]
        })
      )
      const last = yield* Effect.scoped(
        Effect.flatMap(connect(channelId), (connection) => nextEvent(connection, "Connected"))
      )
      return [...first, last._tag]
    }).pipe(anew)

  return {
    open,
    logins: [
      { steps: ["QrShown", "restart", "Connected"], run: login("two", "491700000008", Option.none()) },
      {
        steps: ["PairingCodeShown", "restart", "Connected"],
        run: login("three", "491700000009", Option.some("491700000009"))
      }
    ],
    refusals: [],
    ann: "491700000002",
    ben: "491700000003",
    nobody: "15550000000",
    write: (from, text) => tell("/messages", { from, account: shop, text }),
    got: Effect.map(look("/sent"), (sent) => sent.map(({ text }: { text: string }) => text)),
    isPushed: true,
    connections: Effect.map(look("/connections"), ({ length }) => length),
    block: tell("/refusals", { error: "463" }),
    close: tell("/connections/end", { account: shop, code: 401 }),
    afterClosing: "unavailable",
    typing: Option.some(Effect.map(look("/typing"), (all) => all.map(({ state }: { state: string }) => state))),
    read: Option.some(({ platformMessageId }) => tell("/receipts", { id: platformMessageId, type: "read" }))
  } satisfies PlatformSide
})
