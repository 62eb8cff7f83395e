import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: process.env["SOAK_MINUTES"] === undefined ? ["test/**/*.test.ts"] : ["test/soak/*.test.ts"],
    exclude: process.env["SOAK_MINUTES"] === undefined ? ["test/soak/**"] : [],
    root: new URL("..", import.meta.url).pathname,
    globalSetup: "test/support/GlobalSetup.ts",
    pool: "forks",
    maxWorkers: 2,
    minWorkers: 1,
    testTimeout: 30_000,
    hookTimeout: 60_000
  }
})
