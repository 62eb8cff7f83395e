import { OpenApi } from "@effect/platform"
import { Context } from "effect"
import { documentKey } from "./Repeatable.ts"

type Operation = Record<string, unknown> & { responses: Record<string, unknown> }

const problem = (description: string) => ({
  description,
  content: { "application/json": { schema: { $ref: "#/components/schemas/Problem" } } }
})

const notJson = problem("The body is not JSON, or the cursor is not one of ours.")
const tooLarge = problem("The body is larger than 1 MiB.")
const noJsonType = problem("The body does not call itself `application/json`.")

const takesCursor = ({ parameters }: Operation): boolean =>
  Array.isArray(parameters) && parameters.some(({ name }) => name === "cursor")

/** 400 where there is a body or a cursor to be unreadable; 413 and 415 where there is a body. */
const documentRefusals = (operation: Operation): void => {
  const hasBody = operation["requestBody"] !== undefined
  const { 400: _, ...answers } = operation.responses
  operation.responses = {
    ...answers,
    ...(hasBody || takesCursor(operation) ? { 400: notJson } : {}),
    ...(hasBody ? { 413: tooLarge, 415: noJsonType } : {})
  }
}

/** What undecodable input is called by default; here it is a `Problem` like every refusal. */
const unusedSchemas = ["HttpApiDecodeError", "Issue", "PropertyKey"]

/** Annotation of an API: its document tells what the server does around every endpoint (contract, part 2). */
export const documented = Context.make(OpenApi.Transform, (spec) => {
  for (const item of Object.values<Record<string, Operation>>(spec["paths"] ?? {})) {
    for (const [method, operation] of Object.entries(item)) {
      documentKey(method, operation)
      documentRefusals(operation)
    }
  }
  for (const name of unusedSchemas) delete spec["components"]?.schemas[name]
  return spec
})
