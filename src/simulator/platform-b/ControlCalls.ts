import { Schema } from "effect"

export const NewAccount = Schema.Struct({
  username: Schema.NonEmptyString,
  password: Schema.NonEmptyString,
  two_factor_code: Schema.optional(Schema.String),
  challenge_code: Schema.optional(Schema.String)
})
export const DirectMessage = Schema.Struct({
  from: Schema.NonEmptyString,
  to: Schema.NonEmptyString,
  text: Schema.String,
  type: Schema.optional(Schema.String),
  request: Schema.optionalWith(Schema.Boolean, { default: () => false })
})
export const Failure = Schema.Struct({
  path: Schema.String,
  status: Schema.optionalWith(Schema.Int, { default: () => 500 }),
  body: Schema.optionalWith(Schema.Unknown, { default: () => ({ status: "fail" }) }),
  times: Schema.optionalWith(Schema.Int, { default: () => 1 }),
  kind: Schema.optionalWith(Schema.Literal("answer", "hang", "answer_after_effect"), {
    default: () => "answer" as const
  })
})
