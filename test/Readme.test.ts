import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { settings } from "../src/Config.ts"

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8").replace(/ +/g, " ")
const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))

describe("README", () => {
  it("lists every setting as the program knows it", () => {
    const rows = Object.values(settings).map(
      ({ fallback, kind, meaning, name }) => `| \`${name}\` | ${fallback} | ${meaning} (${kind}) |`
    )
    for (const row of rows) assert.include(readme, row)
    assert.strictEqual(readme.match(/^\| `[A-Z][A-Z_]+` \|/gm)?.length, rows.length)
  })

  it("names only scripts that exist", () => {
    for (const [, script] of readme.matchAll(/npm run ([a-z:]+)/g)) {
      assert.property(manifest.scripts, String(script))
    }
  })
})
