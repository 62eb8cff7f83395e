import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Whole-program stories wait more than they compute: begun first, they do not stand alone at the end. */
class StoriesFirst extends BaseSequencer {
  private static readonly longest =
    /NothingIsLost|SurviveKills|PhoneIsUsed|StoriesComeTrue|RecoveryNeedsNobody|LivesOnPlatformB/

  private static rank({ moduleId }: TestSpecification) {
    if (StoriesFirst.longest.test(moduleId)) return 0
    return moduleId.includes("/test/scenario/") ? 1 : 2
  }

  override async sort(files: Array<TestSpecification>) {
    const sorted = await super.sort(files)
    return sorted.sort((one, other) => StoriesFirst.rank(one) - StoriesFirst.rank(other))
  }
}

export default defineConfig({
  test: {
    include: process.env["SOAK_MINUTES"] === undefined ? ["test/**/*.test.ts"] : ["test/soak/*.test.ts"],
    exclude: process.env["SOAK_MINUTES"] === undefined ? ["test/soak/**"] : [],
    root: new URL("..", import.meta.url).pathname,
    globalSetup: "test/support/GlobalSetup.ts",
    sequence: { sequencer: StoriesFirst },
    pool: "forks",
    maxWorkers: 3,
    minWorkers: 1,
    // For what hangs: whoever waits for something says himself how long.
    testTimeout: 240_000,
    hookTimeout: 240_000
  }
})
