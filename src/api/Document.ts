import { OpenApi } from "@effect/platform"
import { Context, Predicate, Record } from "effect"
import { explained } from "./Glossary.ts"
import { unkeyed } from "./Repeatable.ts"

type Json = { readonly [name: string]: unknown }

const keyParameter = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  schema: { type: "string", minLength: 1, maxLength: 255 },
  description:
    "Kept for 24 hours: the same key and request give the first success again (`Idempotency-Replayed: true`), another " +
    "request with the same key gives 409. What was refused is not kept."
}

const problem = (description: string) => ({
  description,
  content: { "application/json": { schema: { $ref: "#/components/schemas/Problem" } } }
})

const badRequest = problem("The body is not JSON, or the cursor is not one of ours.")
const ofBodies = {
  "413": problem("The body is larger than 1 MiB."),
  "415": problem("The body is not sent as application/json.")
}

const objectAt = (json: Json, name: string): Json => (Predicate.isReadonlyRecord(json[name]) ? json[name] : {})
const listAt = (json: Json, name: string): ReadonlyArray<unknown> => (Array.isArray(json[name]) ? json[name] : [])

/** What the server says to any request, whatever its endpoint declares. */
const operationOf = (method: string, operation: Json): Json => {
  const { [unkeyed]: isUnkeyed, ...rest } = operation
  const hasBody = "requestBody" in operation
  const parameters = listAt(operation, "parameters")
  const isPaged = parameters.some(
    (parameter) => Predicate.isReadonlyRecord(parameter) && parameter["name"] === "cursor"
  )
  const { "400": _, ...declared } = objectAt(operation, "responses")
  const responses = {
    ...declared,
    ...(hasBody || isPaged ? { "400": badRequest } : {}),
    ...(hasBody ? ofBodies : {})
  }
  const isKeyed = method === "post" && isUnkeyed !== true
  return { ...rest, parameters: isKeyed ? [...parameters, keyParameter] : parameters, responses }
}

/** Schemas that stand for any value are given the same `$id` wherever they stand, which no document may do. */
const withoutIds = (json: unknown): unknown => {
  if (Array.isArray(json)) return json.map(withoutIds)
  if (!Predicate.isReadonlyRecord(json)) return json
  const entries = Object.entries(json).filter(
    ([name, value]) => !(name === "$id" && typeof value === "string" && value.startsWith("/schemas/"))
  )
  return Object.fromEntries(entries.map(([name, value]) => [name, withoutIds(value)]))
}

/** `createApp` of `apps.createApp`. */
const placeOf = (operation: Json) => String(operation["operationId"]).replace(/^.*\./, "")

const internal = new Set(["HttpApiDecodeError", "Issue", "PropertyKey"])

/** Annotation of an API: finishes its OpenAPI document with what every request meets. */
export const documented = Context.make(OpenApi.Transform, (spec) => {
  const paths = Record.map(objectAt(spec, "paths"), (item) =>
    Predicate.isReadonlyRecord(item)
      ? Record.map(item, (operation, method) =>
          Predicate.isReadonlyRecord(operation)
            ? explained(placeOf(operation), operationOf(method, operation))
            : operation
        )
      : item
  )
  const components = objectAt(spec, "components")
  const schemas = Record.map(
    Record.filter(objectAt(components, "schemas"), (_, name) => !internal.has(name)),
    (schema, name) => explained(name, schema)
  )
  const finished = withoutIds({ ...spec, paths, components: { ...components, schemas } })
  return Predicate.isReadonlyRecord(finished) ? finished : spec
})
