import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { killedUnderLoad } from "../support/KilledUnderLoad.ts"

/** `npm run soak` kills fifty times. */
const kills = 4

describe(`a program that is killed ${kills} times under load`, () => {
  it.scopedLive(
    "delivers each accepted event under one id, and its history says so",
    () =>
      Effect.gen(function* () {
        const { accepted, events, requests } = yield* killedUnderLoad(kills)
        yield* Effect.logInfo("killed under load").pipe(Effect.annotateLogs({ kills, accepted, events, requests }))
        assert.isAbove(accepted, kills)
      }),
    240_000
  )
})
