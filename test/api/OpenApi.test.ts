import { OpenApi } from "@effect/platform"
import { Validator } from "@seriousme/openapi-schema-validator"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { GatewayApi } from "../../src/api/GatewayApi.ts"
import { ManagementApi } from "../../src/api/ManagementApi.ts"
import { added, type Row, specified } from "./SpecificationTables.ts"

const documents = [
  { name: "subscription management", document: OpenApi.fromApi(ManagementApi) },
  { name: "messaging gateway", document: OpenApi.fromApi(GatewayApi) }
]

const management: any = OpenApi.fromApi(ManagementApi)

const operationOf = ({ method, path }: Row) => management.paths[`/api/v1${path}`]?.[method.toLowerCase()]

const resolved = (schema: any): any =>
  schema?.$ref === undefined ? schema : management.components.schemas[schema.$ref.replace("#/components/schemas/", "")]

const bodyOf = (operation: any) => resolved(operation.requestBody?.content["application/json"].schema)

describe("the OpenAPI documents", () => {
  it.each(documents)("$name is valid OpenAPI 3.1", async ({ document }) => {
    assert.strictEqual(document.openapi.slice(0, 3), "3.1")
    const { errors, valid } = await new Validator().validate(JSON.parse(JSON.stringify(document)))
    assert.isTrue(valid, JSON.stringify(errors, null, 1))
  })

  for (const [source, rows] of Object.entries({ specification: specified, contract: added })) {
    it(`carries every row of the ${source}, with its credential, status and fields`, () => {
      for (const row of rows) {
        const operation = operationOf(row)
        const name = `${row.method} ${row.path}`
        assert.isDefined(operation, name)
        const successes = Object.keys(operation.responses).filter((status) => status.startsWith("2"))
        deepStrictEqual(successes, [String(row.status)], name)
        const credentials = operation.security.flatMap((scheme: object) => Object.keys(scheme))
        deepStrictEqual(credentials, row.credential === "none" ? [] : [row.credential], name)
        const body = bodyOf(operation)
        if (row.required !== undefined) {
          deepStrictEqual([...(body.required ?? [])].toSorted(), [...row.required].toSorted(), name)
        }
        assert.includeMembers(
          Object.keys(body?.properties ?? {}),
          [...(row.required ?? []), ...(row.optional ?? [])],
          name
        )
      }
    })
  }

  it.each(documents)("$name says of every operation what it does and how it can fail", ({ document }) => {
    for (const [path, item] of Object.entries<any>(document.paths)) {
      for (const [method, operation] of Object.entries<any>(item)) {
        const name = `${method} ${path}`
        assert.isString(operation.summary, name)
        const failures = Object.keys(operation.responses).filter((status) => Number(status) >= 400)
        assert.include(failures, "503", name)
        if (operation.security.length > 0) assert.includeMembers(failures, ["401", "403"], name)
        if (operation.requestBody !== undefined) assert.includeMembers(failures, ["400", "413", "415", "422"], name)
        else assert.notInclude(failures, "413", name)
        if (/\{/.test(path) && operation.security.some((scheme: object) => "accessToken" in scheme)) {
          assert.include(failures, "404", name)
        }
        for (const parameter of operation.parameters ?? []) assert.isString(parameter.name, name)
      }
    }
  })

  it.each(documents)("$name says what each field means", ({ document }) => {
    const silent: Array<string> = []
    const walk = (place: string, json: any): void => {
      if (typeof json !== "object" || json === null) return
      for (const [field, schema] of Object.entries<any>(json.properties ?? {})) {
        if (schema.description === undefined && schema.$ref === undefined) silent.push(`${place}.${field}`)
      }
      for (const [key, value] of Object.entries(json)) if (key !== "examples") walk(`${place}/${key}`, value)
    }
    walk("schemas", document.components.schemas)
    for (const [path, item] of Object.entries<any>(document.paths)) {
      for (const [method, operation] of Object.entries<any>(item)) {
        walk(`${method} ${path}`, operation.requestBody)
        const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith("2"))
        walk(`${method} ${path}`, Object.fromEntries(successes))
      }
    }
    deepStrictEqual(silent, [])
  })

  it.each(documents)("$name has an example of each record", ({ document }) => {
    const without = Object.entries<any>(document.components.schemas)
      .filter(
        ([, schema]) => schema.type === "object" && schema.examples === undefined && !("token" in schema.properties)
      )
      .map(([name]) => name)
    deepStrictEqual(without, [])
  })
})
