import { OpenApi } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { assertTrue, deepStrictEqual } from "@effect/vitest/utils"
import { Option, Predicate, Redacted, Schema } from "effect"
import { ServiceApi } from "../../src/api/ServiceApi.ts"
import { routeOf } from "../../src/http/Routes.ts"

/** Named like a secret, but a switch of the AI settings. */
const switches = ["reply_to_private"]

const isSecret = (name: string) =>
  /password|secret|private|service_account|api_key|token$/.test(name) && !switches.includes(name)

/** Every field of a schema of the document, nested ones too. */
const namesIn = (schema: unknown): ReadonlyArray<string> => {
  if (!Predicate.isRecord(schema)) return []
  const properties = Predicate.isRecord(schema["properties"]) ? Object.keys(schema["properties"]) : []
  return [...properties, ...Object.values(schema).flatMap(namesIn)]
}

const clear = "-----in the clear-----"

/** What a body with nothing but this secret, and every field that is required, is understood as. */
const bodies: Readonly<Record<string, object>> = {
  "auth.register": { name: "Ann", email: "ann@example.com" },
  "auth.login": { email: "ann@example.com" },
  "operators.operatorLogin": { email: "ann@example.com" },
  "accounts.connectAccount": { username: "shop" },
  "accounts.answerChallenge": { username: "shop", code: "123456" }
}

const secretFields = () => {
  const document: unknown = OpenApi.fromApi(ServiceApi)
  const found: Array<{ readonly operation: string; readonly method: string; readonly path: string; name: string }> = []
  const { components, paths } = Schema.decodeUnknownSync(
    Schema.Struct({
      components: Schema.Struct({ schemas: Schema.Record({ key: Schema.String, value: Schema.Unknown }) }),
      paths: Schema.Record({ key: Schema.String, value: Schema.Record({ key: Schema.String, value: Schema.Unknown }) })
    })
  )(document)
  const Operation = Schema.Struct({
    operationId: Schema.String,
    requestBody: Schema.optional(
      Schema.Struct({ content: Schema.Struct({ "application/json": Schema.Struct({ schema: Schema.Unknown }) }) })
    )
  })
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, described] of Object.entries(item)) {
      const { operationId, requestBody } = Schema.decodeUnknownSync(Operation)(described)
      const schema = requestBody?.content["application/json"].schema
      const referred = Predicate.isRecord(schema) ? String(schema["$ref"]).split("/").at(-1) : undefined
      const names = namesIn(components.schemas[referred ?? ""] ?? schema)
      for (const name of names.filter(isSecret)) found.push({ operation: operationId, method, path, name })
    }
  }
  return found
}

describe("a secret in a request", () => {
  it("is told apart in every body, so that no log and no audit entry holds it", () => {
    const found = secretFields()
    deepStrictEqual([...new Set(found.map(({ name }) => name))].toSorted(), [
      "api_key",
      "password",
      "store_a_private_key",
      "store_b_service_account_json"
    ])
    for (const { method, name, operation, path } of found) {
      const body = { ...bodies[operation], [name]: clear }
      const route = routeOf(method.toUpperCase(), path.replace(/\{[^}]+\}/g, "x"))
      const understood = Option.flatMap(route, (known) => known.understood(JSON.stringify(body)))
      assertTrue(Option.isSome(understood), `${operation} does not understand ${name}`)
      assert.deepInclude(understood.value, { [name]: String(Redacted.make(clear)) }, `${operation}: ${name}`)
    }
  })
})
