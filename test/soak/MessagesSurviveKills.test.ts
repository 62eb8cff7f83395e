import { describe, it } from "@effect/vitest"
import { talkUnderKills } from "./Kills.ts"

const kills = Number(process.env["SOAK_KILLS"] ?? 50)

describe(`${kills} times kill -9 while messages flow both ways`, () => {
  it.live(
    "loses none, stores none twice, sends none twice, and keeps the session",
    () => talkUnderKills(kills),
    kills * 30_000
  )
})
