import { describe, it } from "@effect/vitest"
import { assertFalse, assertTrue, deepStrictEqual } from "@effect/vitest/utils"
import { Either, FastCheck, ParseResult, Schema } from "effect"
import { fieldErrors } from "../../src/http/FieldErrors.ts"

const Body = Schema.Struct({
  name: Schema.String,
  password: Schema.String.pipe(Schema.minLength(8, { message: () => "must have at least 8 characters" })),
  limit: Schema.optional(Schema.NullOr(Schema.Int.pipe(Schema.between(1, 100)))),
  kind: Schema.Literal("red", "green"),
  on: Schema.optional(Schema.Boolean),
  id: Schema.optional(Schema.UUID),
  items: Schema.optional(Schema.Array(Schema.Struct({ store: Schema.Literal("store_a", "store_b") })))
})

const told = (body: unknown) =>
  Either.match(Schema.decodeUnknownEither(Body, { errors: "all" })(body), {
    onLeft: (error) => fieldErrors(ParseResult.ArrayFormatter.formatErrorSync(error)),
    onRight: () => ({})
  })

describe("what is told of failing fields", () => {
  it("is one sentence for each thing that is wrong, by dotted path", () => {
    deepStrictEqual(
      told({
        name: 5,
        password: "short",
        limit: 500,
        kind: "blue",
        on: "yes",
        id: "x",
        items: [{ store: "store_a" }, { store: "x" }, "y"]
      }),
      {
        name: ["must be a string"],
        password: ["must have at least 8 characters"],
        limit: ["must be a number between 1 and 100"],
        kind: ["must be one of red, green"],
        on: ["must be true or false"],
        id: ["must be a UUID"],
        "items.1.store": ["must be one of store_a, store_b"],
        "items.2": ["must be an object"]
      }
    )
    deepStrictEqual(told({}), { name: ["is missing"], password: ["is missing"], kind: ["is missing"] })
    deepStrictEqual(told("text"), { body: ["must be an object"] })
  })

  it.prop("never repeats what was sent", [FastCheck.uuid(), FastCheck.nat()], ([secret, digits]) => {
    const sent = [secret, [secret], { secret }, `${secret}${digits}`]
    for (const value of sent) {
      const errors = told({ name: [value], password: { value }, limit: value, kind: value, on: value, items: value })
      assertTrue(Object.keys(errors).length >= 5)
      assertFalse(JSON.stringify(errors).includes(secret))
    }
  })
})
