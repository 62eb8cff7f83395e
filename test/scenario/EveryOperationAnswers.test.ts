import { assert, layer } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import Ajv from "ajv"
import { Effect } from "effect"
import { call } from "../support/Api.ts"
import { addressOf, type Operation, operationsOf, validCalls } from "../support/Operations.ts"
import { prepare, type Prepared } from "../support/PreparedTenant.ts"
import { Program } from "../support/Team.ts"

/** Phones before their key is replaced, what ends records after all else and innermost first, the token last. */
const ordered = (operations: ReadonlyArray<Operation>): ReadonlyArray<Operation> => {
  const isPhone = ({ credential }: Operation) => credential === "appPublicKey"
  const ends = ({ id, method }: Operation) => method === "DELETE" || id === "auth.logout"
  const others = operations.filter((operation) => !isPhone(operation) && !ends(operation))
  const ending = operations.filter((operation) => ends(operation) && operation.id !== "auth.logout").toReversed()
  const logout = operations.filter(({ id }) => id === "auth.logout")
  return [...operations.filter(isPhone), ...others, ...ending, ...logout]
}

const credentialOf = ({ credential }: Operation, { key, token }: Prepared) =>
  credential === undefined ? undefined : credential === "appPublicKey" ? key : token

layer(Program.layer, { excludeTestServices: true })("every operation of the reference", (it) => {
  it.effect("has a valid call in the tests, and no call is for none", () =>
    Effect.gen(function* () {
      const { url } = yield* Program
      const { body } = yield* call("GET", `${url}/api/v1/openapi.json`)
      deepStrictEqual(
        operationsOf(body)
          .map(({ id }) => id)
          .toSorted(),
        Object.keys(validCalls).toSorted()
      )
    })
  )

  it.effect(
    "answers its valid call with the status and in the form that it documents",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Program
        const { body: document } = yield* call("GET", `${url}/api/v1/openapi.json`)
        const schemas = new Ajv({ allErrors: true, unknownFormats: "ignore" }).addSchema(document, "document")
        const prepared = yield* prepare
        for (const operation of ordered(operationsOf(document))) {
          const { body, path, query } = validCalls[operation.id]?.(prepared) ?? {}
          const address = addressOf(operation, { ...prepared.ids, ...path }, query)
          const token = credentialOf(operation, prepared)
          const answer = yield* call(operation.method, url + address, { token, body })
          strictEqual(answer.status, operation.success, `${operation.id} ${JSON.stringify(answer.body)}`)
          const isRight = schemas.compile({ $ref: `document${operation.answer}` })
          assert.isTrue(isRight(answer.body), `${operation.id} ${schemas.errorsText(isRight.errors)}`)
        }
      }),
    240_000
  )
})
