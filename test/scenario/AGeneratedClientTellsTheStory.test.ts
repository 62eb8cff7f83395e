import { generateKeyPairSync } from "node:crypto"
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { build } from "esbuild"
import openapiTS, { astToString } from "openapi-typescript"
import ts from "typescript"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const directory = join(import.meta.dirname, "../../node_modules/.cache/generated-client")

const settings: ts.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  allowImportingTsExtensions: true,
  noEmit: true,
  skipLibCheck: true,
  target: ts.ScriptTarget.ES2022,
  lib: ["lib.es2022.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: []
}

const complaints = (file: string) => {
  const program = ts.createProgram([file], settings)
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"))
}

interface Told {
  readonly tell: (setting: { url: string; email: string; storeKey: string }) => Promise<unknown>
}

describe("a client generated from the OpenAPI document by a published generator", () => {
  it.live(
    "compiles, and tells the story of an app from registration to archive",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Gatehouse.serve({ DATABASE_URL: yield* TestDatabase.url })
        const { body } = yield* call("GET", `${url}/api/v1/openapi.json`)
        rmSync(directory, { recursive: true, force: true })
        mkdirSync(directory, { recursive: true })
        const types = yield* Effect.promise(() => openapiTS(body))
        writeFileSync(join(directory, "schema.ts"), astToString(types))
        writeFileSync(join(directory, "package.json"), `{"type":"module"}`)
        const story = join(directory, "Story.ts")
        copyFileSync(join(import.meta.dirname, "../samples/client/Story.ts"), story)
        deepStrictEqual(complaints(story), [])

        const outfile = join(directory, "story.mjs")
        yield* Effect.promise(() =>
          build({ entryPoints: [story], outfile, bundle: true, format: "esm", platform: "node" })
        )
        const { tell } = yield* Effect.promise((): Promise<Told> => import(pathToFileURL(outfile).href))
        const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
        const storeKey = privateKey.export({ format: "pem", type: "pkcs8" }).toString()
        const told = yield* Effect.promise(() => tell({ url, email: "ann@example.com", storeKey }))
        deepStrictEqual(told, {
          roles: ["owner"],
          bootstraps: [
            { created: 4, updated: 1, unchanged: 0 },
            { created: 0, updated: 0, unchanged: 5 }
          ],
          credential: { hasKey: true, isHidden: true },
          current: "default",
          prices: [9.99],
          access: [undefined, true],
          source: "grant",
          granted: true,
          customers: 1,
          keys: [401, 200],
          status: "archived",
          afterwards: [403, "The app is archived."],
          listed: 0
        })
      }).pipe(Effect.scoped),
    240_000
  )
})
