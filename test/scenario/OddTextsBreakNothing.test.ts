import { layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { call } from "../support/Api.ts"
import { addressOf, operationsOf, validCalls } from "../support/Operations.ts"
import { prepare } from "../support/PreparedTenant.ts"
import { Program } from "../support/Team.ts"

const nul = "a\0b"
const half = "a\ud83d"

/** What PostgreSQL and JSON do not take, wherever a text may stand. */
const oddValues = [nul, half].flatMap((odd): ReadonlyArray<unknown> => [odd, [odd], { [odd]: odd }, { x: odd }])

const propertiesOf = (document: any, path: string, method: string): ReadonlyArray<string> => {
  const declared = document.paths[path][method.toLowerCase()].requestBody?.content["application/json"].schema ?? {}
  const name = declared.$ref?.split("/").at(-1)
  const schema = name === undefined ? declared : document.components.schemas[name]
  return [schema, ...(schema.anyOf ?? [])].flatMap(({ properties = {} }) => Object.keys(properties))
}

const queriesOf = (document: any, path: string, method: string): ReadonlyArray<string> =>
  document.paths[path][method.toLowerCase()].parameters
    .filter((parameter: { in: string }) => parameter.in === "query")
    .map((parameter: { name: string }) => parameter.name)

layer(Program.layer, { excludeTestServices: true })("a text that cannot be stored", (it) => {
  it.effect(
    "is the caller's mistake or names nothing, in every field, path and query",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Program
        const { body: document } = yield* call("GET", `${url}/api/v1/openapi.json`)
        const prepared = yield* prepare
        const broken: Array<string> = []
        let tried = 0
        const attempt = Effect.fn(function* (
          id: string,
          where: string,
          method: string,
          address: string,
          body?: unknown
        ) {
          const token = id.startsWith("client") ? prepared.key : prepared.token
          const { status } = yield* call(method, url + address, { token, body })
          tried += 1
          if (status >= 500) broken.push(`${id} ${where} ${status}`)
        })
        const operations = operationsOf(document).filter(({ id }) => id !== "auth.logout" && id !== "apps.rotateKey")
        for (const operation of operations) {
          const { id, method, parameters, path } = operation
          const valid = validCalls[id]?.(prepared) ?? {}
          const ids = { ...prepared.ids, ...valid.path }
          for (const name of parameters) {
            for (const odd of [encodeURIComponent(nul), "%ED%A0%BD"]) {
              yield* attempt(id, name, method, addressOf(operation, { ...ids, [name]: odd }, valid.query), valid.body)
            }
          }
          for (const name of queriesOf(document, path, method)) {
            yield* attempt(
              id,
              name,
              method,
              `${addressOf(operation, ids, "")}?${name}=${encodeURIComponent(nul)}`,
              valid.body
            )
          }
          for (const name of propertiesOf(document, path, method)) {
            for (const odd of oddValues) {
              yield* attempt(
                id,
                name,
                method,
                addressOf(operation, ids, valid.query),
                Object.assign({}, valid.body, { [name]: odd })
              )
            }
          }
        }
        deepStrictEqual(broken, [], `of ${tried} calls`)
      }),
    240_000
  )
})
