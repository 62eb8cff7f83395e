import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification, type Vite } from "vitest/node"

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

const root = new URL("..", import.meta.url).pathname
const isSoak = process.env["SOAK_MINUTES"] !== undefined

/** Only computes: no process, server or database, and nothing that stays changed in the process it runs in. */
const pure = [
  "test/**/domain/*.test.ts",
  "test/Readme.test.ts",
  "test/api/*.test.ts",
  "test/kit/{Id,SingleFlight,Together}.test.ts",
  "test/platform/platform-b/{Cursor,EncryptedPassword,Failures,Glance,SeenItems}.test.ts",
  "test/simulator/**/{Timescale,Life}.test.ts",
  "test/store/store-a/{Facts,RootCertificate,ServerAnswers}.test.ts",
  "test/store/store-b/{Facts,Push}.test.ts",
  "test/subscription/NotificationTable.test.ts",
  "test/webhook/actor/Lanes.test.ts"
]

const patience = {
  // For what hangs: whoever waits for something says himself how long.
  testTimeout: 240_000,
  hookTimeout: 240_000
}

const poolOptions = { threads: { isolate: false, minThreads: 1, maxThreads: 1 } }

/** What only computes shares one thread, where modules are imported once, beside the processes of all other files. */
const together: Vite.Plugin = {
  name: "together",
  configureVitest: async ({ injectTestProjects, project }) => {
    const exclude = project.config.cliExclude ?? []
    await injectTestProjects({
      test: { ...patience, root, name: "pure", include: pure, exclude, pool: "threads", poolOptions }
    })
  }
}

export default defineConfig({
  plugins: isSoak ? [] : [together],
  test: {
    ...patience,
    root,
    include: isSoak ? ["test/soak/*.test.ts"] : ["test/**/*.test.ts"],
    exclude: isSoak ? [] : ["test/soak/**", ...pure],
    globalSetup: "test/support/GlobalSetup.ts",
    sequence: { sequencer: StoriesFirst },
    pool: "forks",
    poolOptions,
    maxWorkers: 3,
    minWorkers: 1
  }
})
