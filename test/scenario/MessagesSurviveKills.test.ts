import { describe, it } from "@effect/vitest"
import { talkUnderKills } from "../soak/Kills.ts"

describe("kill -9 while messages flow both ways", () => {
  it.live("loses none, stores none twice, sends none twice, and keeps the session", () => talkUnderKills(5), 240_000)
})
