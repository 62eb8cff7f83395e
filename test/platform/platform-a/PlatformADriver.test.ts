import { assert, it } from "@effect/vitest"
import { Duration, Effect, Layer, Option, Redacted, type Scope } from "effect"
import type { PlatformEvent } from "../../../src/platform/domain/PlatformEvent.ts"
import * as PlatformADriver from "../../../src/platform/platform-a/PlatformADriver.ts"
import { connect, linked, makeSide, nextEvent, type Side } from "./LinkedPhone.ts"
import type { PlatformA } from "../../../src/platform/Platform.ts"

const phone = "491700000001"
const ann = "491700000002"

const withSide = <A, E>(use: (side: Side) => Effect.Effect<A, E, PlatformA | Scope.Scope>) =>
  Effect.scoped(Effect.flatMap(makeSide, (side) => Effect.provide(use(side), side.driver)))

it.live(
  "a scanned QR code links a channel, which then hears and speaks",
  () =>
    withSide((side) =>
      Effect.gen(function* () {
        const connection = yield* linked(side, "one", phone)
        yield* side.control("POST", "/messages", { from: ann, account: phone, text: "hello" })
        const seen = yield* nextEvent(connection, "SeenMessage")
        assert.strictEqual(seen.body, "hello")
        assert.strictEqual(seen.chatId, `${ann}@s.whatsapp.net`)
        const sent = yield* connection.send({ to: ann, body: "good day", clientId: "m-1" })
        const { body } = yield* side.control("GET", "/sent")
        assert.strictEqual(body[0].text, "good day")
        yield* side.control("POST", "/receipts", { id: sent.platformMessageId, type: "read" })
        const receipt = yield* nextEvent(connection, "ReceiptSeen")
        assert.strictEqual(receipt.status, "read")
      })
    ),
  240_000
)

it.live(
  "QR codes that nobody scans follow each other until the platform has no more of them",
  () =>
    withSide((side) =>
      Effect.gen(function* () {
        const driver = PlatformADriver.layer({
          url: side.simulator.socketUrl,
          qrLives: Option.some(Duration.millis(200))
        }).pipe(Layer.provide(side.vault.layer))
        const told = yield* Effect.scoped(
          Effect.gen(function* () {
            const { events } = yield* connect("one")
            const all: Array<PlatformEvent> = []
            while (all.at(-1)?._tag !== "Closed") all.push(yield* events.take)
            return all
          })
        ).pipe(Effect.provide(driver))
        const codes = told.flatMap((event) => (event._tag === "QrShown" ? [Redacted.value(event.qr)] : []))
        assert.strictEqual(new Set(codes).size, 6)
        const last = told.at(-1)
        assert.isTrue(last?._tag === "Closed" && last.end === "qr_expired")
      })
    ),
  240_000
)

it.live(
  "a pairing code links a channel",
  () =>
    withSide((side) =>
      Effect.gen(function* () {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const connection = yield* connect("two", Option.some(`+${phone}`))
            const { code } = yield* nextEvent(connection, "PairingCodeShown")
            const entered = yield* side.control("POST", "/pairing-code", { code: Redacted.value(code) })
            assert.strictEqual(entered.status, 200)
            assert.strictEqual((yield* nextEvent(connection, "Closed")).end, "restart")
          })
        )
        const connection = yield* connect("two")
        assert.strictEqual((yield* nextEvent(connection, "Connected")).username, phone)
      })
    ),
  240_000
)
